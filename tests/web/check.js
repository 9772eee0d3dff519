// Judges a .glb: Khronos' validator must find no errors and no warnings, and three.js must show the vertices where our
// own skinning has them.
//
//   node check.js [--browser] FILE.glb [FRAME=FILE.obj]...
//
// An .obj is a frame of the same run, written by pliant. Positions may differ by 1e-4 of the size of the scene.
// With --browser three.js runs in Chromium, and what is compared was computed by WebGL.
import { readFile } from 'node:fs/promises';
import validator from 'gltf-validator';

const TOLERANCE = 1e-4;

function fail(message) {
  console.error(`check: ${message}`);
  process.exitCode = 1;
}

async function validate(name, bytes) {
  const report = await validator.validateBytes(new Uint8Array(bytes), { maxIssues: 100 });
  const { numErrors, numWarnings, numInfos, messages } = report.issues;
  for (const issue of messages) {
    if (issue.severity < 2) fail(`${name}: ${issue.code}: ${issue.message} (${issue.pointer})`);
  }
  console.log(`${name}: ${numErrors} errors, ${numWarnings} warnings, ${numInfos} notes; ` +
    `${report.info.animationCount} animation, ${report.info.totalVertexCount} vertices`);
}

// The vertices of an .obj, by object.
async function readObj(name) {
  const objects = [];
  for (const line of (await readFile(name, 'utf8')).split('\n')) {
    if (line.startsWith('o ')) objects.push({ name: line.slice(2), positions: [] });
    else if (line.startsWith('v ')) objects.at(-1).positions.push(...line.slice(2).split(' ').map(Number));
  }
  return objects;
}

function sceneSize(objects) {
  const lower = [Infinity, Infinity, Infinity], upper = [-Infinity, -Infinity, -Infinity];
  for (const { positions } of objects) {
    positions.forEach((value, i) => {
      lower[i % 3] = Math.min(lower[i % 3], value);
      upper[i % 3] = Math.max(upper[i % 3], value);
    });
  }
  return Math.hypot(...upper.map((value, k) => value - lower[k]));
}

// The largest distance between vertices; NaN, which is no distance, never passes.
function largestError(ours, theirs) {
  let largest = 0;
  for (let i = 0; i < ours.length; i += 3) {
    const error = Math.hypot(ours[i] - theirs[i], ours[i + 1] - theirs[i + 1], ours[i + 2] - theirs[i + 2]);
    if (!(error <= largest)) largest = error;
  }
  return largest;
}

function compare(name, frame, objects, bodies) {
  if (objects.length !== bodies.length) {
    fail(`${name}: ${bodies.length} bodies, but ${objects.length} in frame ${frame}`);
    return;
  }
  const size = sceneSize(objects);
  let worst = 0;
  objects.forEach((object, i) => {
    if (object.positions.length !== bodies[i].length) {
      fail(`${name}: frame ${frame}: "${object.name}" has ${bodies[i].length / 3} vertices, ` +
        `not ${object.positions.length / 3}`);
    } else {
      const error = largestError(object.positions, bodies[i]);
      if (!(error <= worst)) worst = error;
    }
  });
  console.log(`${name}: frame ${frame}: off by ${(worst / size).toExponential(1)} of the scene's size`);
  if (!(worst <= TOLERANCE * size)) fail(`${name}: frame ${frame}: more than ${TOLERANCE}`);
}

// Returns a function from a frame to the positions of all bodies.
async function openInNode(bytes) {
  globalThis.ProgressEvent ??= class {};
  const { load, positions, setTime } = await import('./evaluate.js');
  const file = await load(bytes, { textures: false });
  return {
    at: async (frame) => {
      setTime(file, frame / file.fps);
      return file.bodies.map(positions);
    },
    close: async () => {},
  };
}

const words = process.argv.slice(2);
const browser = words[0] === '--browser' && words.shift();
const name = words.shift();
if (!name) {
  console.error('usage: node check.js [--browser] FILE.glb [FRAME=FILE.obj]...');
  process.exit(2);
}
const content = await readFile(name);
const bytes = content.buffer.slice(content.byteOffset, content.byteOffset + content.byteLength);
await validate(name, bytes);
const open = browser ? (await import('./browser.js')).open : openInNode;
const file = await open(bytes);
for (const word of words) {
  const [frame, obj] = word.split(/=(.*)/s);
  compare(name, Number(frame), await readObj(obj), await file.at(Number(frame)));
}
await file.close();
