// A .glb in headless Chromium: loaded by three.js, textures and all, and skinned by WebGL.
import { createServer } from 'node:http';
import { readFile } from 'node:fs/promises';
import { dirname, join, normalize, sep } from 'node:path';
import { fileURLToPath } from 'node:url';
import { chromium } from 'playwright-core';

const here = dirname(fileURLToPath(import.meta.url));
const page = `<!doctype html><meta charset="utf-8"><title>pliant</title>
<link rel="icon" href="data:,">
<script type="importmap">{"imports": {
  "three": "/node_modules/three/build/three.module.js",
  "three/addons/": "/node_modules/three/examples/jsm/"}}</script>
<script type="module">import { start } from '/page.js'; window.ready = start();</script>`;

// The page, the .glb, and the files of this folder.
function serve(bytes) {
  const server = createServer(async (request, response) => {
    const path = decodeURIComponent(request.url.split('?')[0]);
    try {
      if (path === '/') {
        response.setHeader('content-type', 'text/html').end(page);
      } else if (path === '/file.glb') {
        response.setHeader('content-type', 'model/gltf-binary').end(Buffer.from(bytes));
      } else {
        const file = normalize(join(here, path));
        if (!file.startsWith(here + sep)) throw new Error('outside');
        response.setHeader('content-type', 'text/javascript').end(await readFile(file));
      }
    } catch {
      response.writeHead(404).end();
    }
  });
  return new Promise((resolve) => server.listen(0, '127.0.0.1', () => resolve(server)));
}

export async function open(bytes) {
  const server = await serve(bytes);
  const browser = await chromium.launch({
    executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium',
    args: ['--no-sandbox', '--use-angle=swiftshader', '--enable-unsafe-swiftshader'],
  });
  const tab = await browser.newPage({ viewport: { width: 960, height: 540 } });
  const troubles = [];
  tab.on('pageerror', (error) => troubles.push(error.message));
  tab.on('console', (message) => message.type() === 'error' && troubles.push(message.text()));
  await tab.goto(`http://127.0.0.1:${server.address().port}/`);
  await tab.evaluate(() => window.ready);
  return {
    at: async (frame) => {
      const bodies = await tab.evaluate((at) => window.positionsAt(at), frame);
      if (process.env.PICTURES) await tab.screenshot({ path: join(process.env.PICTURES, `frame_${frame}.png`) });
      return bodies;
    },
    close: async () => {
      await browser.close();
      server.close();
      if (troubles.length > 0) throw new Error(`the browser said: ${troubles.join('; ')}`);
    },
  };
}
