// Entry points that other programs import: each source file that stands alone → dist/NAME.mjs with its types beside it.
import { execFileSync } from 'node:child_process';
import fs from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';
import esbuild from 'esbuild';

const LIBRARIES = ['extension'];

/** The compiler's program, wherever the package is installed. */
const compiler = () => path.join(path.dirname(createRequire(import.meta.url).resolve('typescript/package.json')), 'bin', 'tsc');

export async function writeLibraries(folder, root) {
  const files = LIBRARIES.map((name) => path.join(root, 'src', `${name}.ts`));
  const options = [
    '--declaration',
    '--emitDeclarationOnly',
    '--noEmit',
    'false',
    '--allowImportingTsExtensions',
    '--strict',
    '--skipLibCheck',
  ];
  const target = ['--target', 'ES2023', '--lib', 'ES2023', '--module', 'NodeNext', '--types', 'node', '--ignoreConfig'];
  execFileSync(process.execPath, [compiler(), ...options, ...target, '--outDir', folder, ...files], {
    cwd: root,
    stdio: ['ignore', 'inherit', 'inherit'],
  });
  for (const [i, name] of LIBRARIES.entries()) {
    fs.renameSync(path.join(folder, `${name}.d.ts`), path.join(folder, `${name}.d.mts`));
    const { code } = await esbuild.transform(fs.readFileSync(files[i], 'utf8'), { loader: 'ts', format: 'esm', target: 'node20.19' });
    fs.writeFileSync(path.join(folder, `${name}.mjs`), code);
  }
}
