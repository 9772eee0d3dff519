// In the browser: shows the file, and reads back where WebGL's skinning puts the vertices.
import * as THREE from 'three';
import { load, setTime } from './evaluate.js';

const WIDTH = 1024;

// Every vertex becomes a point: pixel number i holds where vertex i is in the world.
function makeProbe() {
  return new THREE.ShaderMaterial({
    glslVersion: THREE.GLSL3,
    uniforms: { height: { value: 1 } },
    vertexShader: `
      #include <common>
      #include <skinning_pars_vertex>
      uniform float height;
      out vec3 place;
      void main() {
        #include <skinbase_vertex>
        #include <begin_vertex>
        #include <skinning_vertex>
        place = (modelMatrix * vec4(transformed, 1.0)).xyz;
        vec2 pixel = vec2(gl_VertexID % ${WIDTH}, gl_VertexID / ${WIDTH}) + 0.5;
        gl_Position = vec4(pixel / vec2(${WIDTH}.0, height) * 2.0 - 1.0, 0.0, 1.0);
        gl_PointSize = 1.0;
      }`,
    fragmentShader: `
      precision highp float;
      in vec3 place;
      out vec4 colour;
      void main() { colour = vec4(place, 1.0); }`,
    depthTest: false,
    depthWrite: false,
    blending: THREE.NoBlending,
  });
}

function probeBody(renderer, probe, body) {
  const mesh = body.meshes[0], geometry = mesh.geometry;
  const count = geometry.attributes.position.count, height = Math.ceil(count / WIDTH);
  const target = new THREE.WebGLRenderTarget(WIDTH, height, { type: THREE.FloatType, depthBuffer: false });
  const every = geometry.clone().setIndex([...Array(count).keys()]);
  const points = new THREE.SkinnedMesh(every, probe);
  points.isMesh = false; // drawn as points, still skinned
  points.isPoints = true;
  points.frustumCulled = false;
  points.bind(mesh.skeleton, mesh.bindMatrix);
  const scene = new THREE.Scene();
  scene.add(points);
  probe.uniforms.height.value = height;
  renderer.setRenderTarget(target);
  renderer.render(scene, new THREE.Camera());
  const pixels = new Float32Array(4 * WIDTH * height);
  renderer.readRenderTargetPixels(target, 0, 0, WIDTH, height, pixels);
  renderer.setRenderTarget(null);
  target.dispose();
  every.dispose();
  const out = [];
  for (let i = 0; i < count; i++) out.push(pixels[4 * i], pixels[4 * i + 1], pixels[4 * i + 2]);
  return out;
}

function makeStage(file) {
  const stage = new THREE.Scene();
  stage.background = new THREE.Color(0xf2efe9);
  stage.add(file.gltf.scene, new THREE.HemisphereLight(0xffffff, 0x888070, 2));
  const sun = new THREE.DirectionalLight(0xffffff, 2);
  sun.position.set(2, 4, 3);
  stage.add(sun);
  return stage;
}

function makeCamera(file) {
  const box = new THREE.Box3();
  for (const body of file.bodies) {
    body.meshes[0].computeBoundingBox();
    box.union(body.meshes[0].boundingBox);
  }
  const middle = box.getCenter(new THREE.Vector3()), size = box.getSize(new THREE.Vector3()).length();
  const camera = new THREE.PerspectiveCamera(35, 960 / 540, size / 100, size * 10);
  camera.position.copy(middle).add(new THREE.Vector3(0.8, 0.6, 1.2).multiplyScalar(size));
  camera.lookAt(middle);
  return camera;
}

export async function start() {
  const bytes = await (await fetch('/file.glb')).arrayBuffer();
  const file = await load(bytes, { textures: true });
  const renderer = new THREE.WebGLRenderer({ antialias: true });
  renderer.setSize(960, 540);
  document.body.style.margin = 0;
  document.body.append(renderer.domElement);
  setTime(file, 0);
  const stage = makeStage(file), camera = makeCamera(file), probe = makeProbe();
  window.positionsAt = (frame) => {
    setTime(file, frame / file.fps);
    const all = file.bodies.map((body) => probeBody(renderer, probe, body));
    renderer.render(stage, camera);
    return all;
  };
}
