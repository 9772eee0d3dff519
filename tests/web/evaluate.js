// What three.js makes of a .glb: where the vertices of every body are at a time. Runs in node and in a browser.
import * as THREE from 'three';
import { GLTFLoader } from 'three/addons/loaders/GLTFLoader.js';

// Textures need a browser; without one they are left out.
function withoutTextures() {
  return { name: 'without-textures', loadTexture: () => Promise.resolve(new THREE.Texture()) };
}

export async function load(bytes, { textures }) {
  const loader = new GLTFLoader();
  if (!textures) loader.register(withoutTextures);
  const gltf = await loader.parseAsync(bytes, '');
  const mixer = new THREE.AnimationMixer(gltf.scene);
  for (const clip of gltf.animations) {
    const action = mixer.clipAction(clip);
    action.setLoop(THREE.LoopOnce);
    action.clampWhenFinished = true;
    action.play();
  }
  return { gltf, mixer, fps: gltf.scene.userData.fps, bodies: findBodies(gltf) };
}

// Bodies in the order of the file: a node with a skin. Of several primitives each has all vertices; the first will do.
function findBodies(gltf) {
  const bodies = [];
  for (const object of gltf.scene.children) {
    const meshes = [];
    object.traverse((part) => part.isSkinnedMesh && meshes.push(part));
    if (meshes.length > 0) bodies.push({ name: object.userData.name ?? object.name, meshes });
  }
  return bodies;
}

export function setTime(file, seconds) {
  for (const clip of file.gltf.animations) file.mixer.existingAction(clip).reset();
  file.mixer.setTime(seconds);
  file.gltf.scene.updateMatrixWorld(true);
  for (const body of file.bodies) for (const mesh of body.meshes) mesh.skeleton.update();
}

// x, y, z of all vertices of a body, as three.js computes them on the CPU.
export function positions(body) {
  const mesh = body.meshes[0];
  const count = mesh.geometry.attributes.position.count;
  const out = new Float64Array(3 * count);
  const point = new THREE.Vector3();
  for (let i = 0; i < count; i++) {
    mesh.getVertexPosition(i, point).applyMatrix4(mesh.matrixWorld).toArray(out, 3 * i);
  }
  return out;
}
