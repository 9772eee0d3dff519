// The boxes with Bullet's soft bodies: stiff links, pose matching, soft-soft contact by vertices and faces.
#include <chrono>
#include <vector>

#include <BulletSoftBody/btSoftBody.h>
#include <BulletSoftBody/btSoftBodyRigidBodyCollisionConfiguration.h>
#include <BulletSoftBody/btSoftRigidDynamicsWorld.h>
#include <btBulletDynamicsCommon.h>

#include "boxes.h"

namespace {

int index_of(const boxes *b, int i, int j, int k)
{
    return (i * b->side[1] + j) * b->side[2] + k;
}

void add_quad(btSoftBody *body, int a, int b, int c, int d)
{
    body->appendFace(a, b, c);
    body->appendFace(a, c, d);
}

/* The six sides of the lattice. */
void add_faces(btSoftBody *body, const boxes *b)
{
    const int *n = b->side;
    for (int j = 0; j + 1 < n[1]; j++)
        for (int k = 0; k + 1 < n[2]; k++)
            for (int i = 0; i < n[0]; i += n[0] - 1)
                add_quad(body, index_of(b, i, j, k), index_of(b, i, j + 1, k), index_of(b, i, j + 1, k + 1),
                         index_of(b, i, j, k + 1));
    for (int i = 0; i + 1 < n[0]; i++)
        for (int k = 0; k + 1 < n[2]; k++)
            for (int j = 0; j < n[1]; j += n[1] - 1)
                add_quad(body, index_of(b, i, j, k), index_of(b, i + 1, j, k), index_of(b, i + 1, j, k + 1),
                         index_of(b, i, j, k + 1));
    for (int i = 0; i + 1 < n[0]; i++)
        for (int j = 0; j + 1 < n[1]; j++)
            for (int k = 0; k < n[2]; k += n[2] - 1)
                add_quad(body, index_of(b, i, j, k), index_of(b, i + 1, j, k), index_of(b, i + 1, j + 1, k),
                         index_of(b, i, j + 1, k));
}

btSoftBody *make_box(btSoftBodyWorldInfo &info, const boxes *b, int number)
{
    const int *n = b->side;
    std::vector<btVector3> nodes(n[0] * n[1] * n[2]);
    std::vector<btScalar> masses(nodes.size(), btScalar(1) / btScalar(nodes.size()));
    for (int i = 0; i < n[0]; i++)
        for (int j = 0; j < n[1]; j++)
            for (int k = 0; k < n[2]; k++)
                nodes[index_of(b, i, j, k)] =
                    btVector3((i - (n[0] - 1) / 2.0) * b->spacing, (j - (n[1] - 1) / 2.0) * b->spacing,
                              (k - (n[2] - 1) / 2.0) * b->spacing);
    btSoftBody *body = new btSoftBody(&info, int(nodes.size()), nodes.data(), masses.data());
    body->m_materials[0]->m_kLST = 1;
    for (int i = 0; i < n[0]; i++)
        for (int j = 0; j < n[1]; j++)
            for (int k = 0; k < n[2]; k++) {
                int a = index_of(b, i, j, k);
                if (i + 1 < n[0])
                    body->appendLink(a, index_of(b, i + 1, j, k));
                if (j + 1 < n[1])
                    body->appendLink(a, index_of(b, i, j + 1, k));
                if (k + 1 < n[2])
                    body->appendLink(a, index_of(b, i, j, k + 1));
            }
    add_faces(body, b);
    const double *p = b->position[number], *q = b->rotation[number];
    btTransform frame(btQuaternion(q[0], q[1], q[2], q[3]), btVector3(p[0], p[1], p[2]));
    body->transform(frame);
    body->setPose(false, true);
    body->m_cfg.kMT = 0.1;
    body->m_cfg.kDF = 0.5;
    body->m_cfg.piterations = 2;
    body->m_cfg.collisions = btSoftBody::fCollision::SDF_RS | btSoftBody::fCollision::VF_SS;
    body->getCollisionShape()->setMargin(0.125);
    body->setActivationState(DISABLE_DEACTIVATION);
    return body;
}

} // namespace

int boxes_run_bullet(const boxes *b, int frames, double *ms, double *positions)
{
    btSoftBodyRigidBodyCollisionConfiguration configuration;
    btCollisionDispatcher dispatcher(&configuration);
    btDbvtBroadphase broadphase;
    btSequentialImpulseConstraintSolver solver;
    btSoftRigidDynamicsWorld world(&dispatcher, &broadphase, &solver, &configuration);
    world.setGravity(btVector3(0, -9.81, 0));
    btSoftBodyWorldInfo &info = world.getWorldInfo();
    info.m_dispatcher = &dispatcher;
    info.m_broadphase = &broadphase;
    info.m_gravity = btVector3(0, -9.81, 0);
    info.m_sparsesdf.Initialize();
    double planes[5][4] = {{0, 1, 0, 0}, {1, 0, 0, -b->half}, {-1, 0, 0, -b->half}, {0, 0, 1, -b->half}, {0, 0, -1, -b->half}};
    std::vector<btRigidBody *> walls;
    for (auto &p : planes) {
        auto *shape = new btStaticPlaneShape(btVector3(p[0], p[1], p[2]), p[3]);
        auto *wall = new btRigidBody(0, nullptr, shape);
        wall->setFriction(0.5);
        world.addRigidBody(wall);
        walls.push_back(wall);
    }
    std::vector<btSoftBody *> bodies;
    for (int i = 0; i < b->count; i++) {
        bodies.push_back(make_box(info, b, i));
        world.addSoftBody(bodies.back());
    }
    for (int frame = 0; frame < frames; frame++) {
        auto start = std::chrono::steady_clock::now();
        world.stepSimulation(btScalar(1) / 30, 6, btScalar(1) / 180);
        ms[frame] = std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count();
    }
    size_t at = 0;
    for (auto *body : bodies) {
        for (int i = 0; i < body->m_nodes.size(); i++)
            for (int k = 0; k < 3; k++)
                positions[at++] = body->m_nodes[i].m_x[k];
        world.removeSoftBody(body);
        delete body;
    }
    for (auto *wall : walls) {
        world.removeRigidBody(wall);
        delete wall->getCollisionShape();
        delete wall;
    }
    return 1;
}
