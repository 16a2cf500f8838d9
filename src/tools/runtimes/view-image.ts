// view_image: shows a local picture to the model. What no model takes is refused before it reaches history; what is too large is made
// smaller when the image library is there.
import { readFile, stat } from 'node:fs/promises';
import path from 'node:path';
import { messageOf } from '../../common/errors.ts';
import { readFunctionPayload } from '../gates/validate.ts';
import { sniffImage } from '../image-type.ts';
import { failedOutput, type ToolOutput } from '../result.ts';
import type { Invocation, ToolRuntime } from '../runtime.ts';

/** Providers refuse pictures above about 5 MB, for this and every later request of the thread. */
const MAX_BYTES = 4_500_000;
const MAX_EDGE = 2048;
const MAX_READ = 64 * 1024 * 1024;

const parameters = {
  type: 'object',
  properties: { path: { type: 'string', description: 'The picture: an absolute path, or one relative to the folder of the thread.' } },
  required: ['path'],
} as const;

interface Args {
  path: string;
}

/** The picture within the limit, or null when it cannot be made smaller here. */
async function shrink(bytes: Buffer): Promise<{ bytes: Buffer; mime: string } | null> {
  try {
    // Optional: it is not installed everywhere, so its name is kept from the bundler's and the compiler's eyes.
    const name = 'sharp';
    const { default: sharp } = (await import(name)) as {
      default: (input: Buffer) => { resize(o: object): { jpeg(o: object): { toBuffer(): Promise<Buffer> } } };
    };
    const small = await sharp(bytes)
      .resize({ width: MAX_EDGE, height: MAX_EDGE, fit: 'inside', withoutEnlargement: true })
      .jpeg({ quality: 85 })
      .toBuffer();
    return small.length <= MAX_BYTES ? { bytes: small, mime: 'image/jpeg' } : null;
  } catch {
    return null;
  }
}

async function show({ call, args, step, events }: Invocation<Args>): Promise<ToolOutput> {
  const file = path.resolve(step.cwd, args.path);
  if (!step.supportsImages)
    return failedOutput('tool_error', `The model ${step.model} does not take images; describe what you need from ${file} in another way.`);
  let bytes: Buffer;
  try {
    const found = await stat(file);
    if (!found.isFile()) return failedOutput('tool_error', `image path ${file} is not a file`);
    if (found.size > MAX_READ)
      return failedOutput('tool_error', `unable to show ${file}: it has ${found.size} bytes, over the limit of ${MAX_READ}`);
    bytes = await readFile(file);
  } catch (error) {
    return failedOutput('not_found', `unable to locate the image at ${file}: ${messageOf(error)}`);
  }
  const image = sniffImage(bytes);
  if (!image.ok) return failedOutput('tool_error', `unable to show ${file}: ${image.problem}`);
  let shown = { bytes, mime: image.mime };
  if (bytes.length > MAX_BYTES) {
    const small = await shrink(bytes);
    if (!small)
      return failedOutput(
        'tool_error',
        `unable to show ${file}: it is too large (${bytes.length} bytes; models take ${MAX_BYTES}). Make a smaller copy and view that.`,
      );
    shown = small;
  }
  const item = { type: 'imageView' as const, id: call.itemId, path: file };
  events.startItem(item, { abandoned: (current) => current }).complete(item);
  return {
    success: true,
    content: [{ type: 'image', imageUrl: `data:${shown.mime};base64,${shown.bytes.toString('base64')}`, detail: 'original' }],
  };
}

export function viewImage(): ToolRuntime<Args> {
  return {
    name: { name: 'view_image' },
    spec: {
      type: 'function',
      name: 'view_image',
      description: 'Shows you a local picture (PNG, JPEG, GIF, WebP).',
      parameters,
      strict: false,
    },
    exposure: 'direct',
    source: { type: 'builtin' },
    supportsParallel: true,
    waitsForCleanup: false,
    external: false,
    audience: 'reviewer',
    requires: 'images',
    validate: (payload) => readFunctionPayload<Args>('view_image', payload, parameters),
    run: show,
  };
}
