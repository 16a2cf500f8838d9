// The code that runs in the thread of an extension: it loads the module, describes what it offers, and runs its functions. The function is
// sent there as text, so it may use nothing but its arguments and the language itself.
import type { ExtensionReply, FromExtension, ToExtension } from './extension-messages.ts';

interface Port {
  postMessage(message: FromExtension): void;
  on(event: 'message', listener: (message: ToExtension) => void): void;
  unref(): void;
}

type Fields = Record<string, unknown>;

/** @param load imports a module by its URL */
export function runExtension(port: Port, load: (url: string) => Promise<unknown>, url: string): void {
  const isObject = (value: unknown): value is Fields => typeof value === 'object' && value !== null && !Array.isArray(value);
  const text = (error: unknown): string => (error instanceof Error ? error.message || error.name : String(error));
  const list = (value: unknown): Fields[] => (Array.isArray(value) ? value.filter(isObject) : []);
  const running = new Map<number, AbortController>();
  let extension: Fields = {};
  let tools: Fields[] = [];
  let hooks: Fields[] = [];

  /** The JSON Schema of a tool's input: as written, or as its library says it. */
  const schemaOf = (input: unknown): unknown => {
    if (input === undefined) return { type: 'object', properties: {} };
    if (!isObject(input)) return input;
    const standard = input['~standard'];
    if (!isObject(standard)) return input;
    const json = standard.jsonSchema;
    if (isObject(json) && typeof json.input === 'function') return json.input({ target: 'draft-2020-12' });
    throw new Error('its input schema cannot be given as JSON Schema: use zod 4.2 or newer, or write JSON Schema');
  };

  /** The input as the schema's library reads it; JSON Schema was checked before it came here. */
  const read = async (schema: unknown, input: unknown): Promise<{ value: unknown } | { problem: string }> => {
    const standard = isObject(schema) ? schema['~standard'] : undefined;
    if (!isObject(standard) || typeof standard.validate !== 'function') return { value: input };
    const result = await standard.validate(input);
    if (!isObject(result) || !Array.isArray(result.issues)) return { value: isObject(result) ? result.value : input };
    const issues = list(result.issues).map((issue) => {
      const at = Array.isArray(issue.path) ? issue.path.map((part) => (isObject(part) ? part.key : part)).join('.') : '';
      return `${at ? `${at}: ` : ''}${String(issue.message)}`;
    });
    return { problem: issues.join('; ') };
  };

  const hooksOf = (value: unknown): Fields[] =>
    isObject(value)
      ? Object.entries(value).flatMap(([event, given]) =>
          (Array.isArray(given) ? given : [given]).map((hook) => (typeof hook === 'function' ? { event, run: hook } : { ...hook, event })),
        )
      : [];

  const manifestOf = (): Fields => ({
    name: extension.name,
    description: extension.description,
    namespace: extension.namespace,
    tools: tools.map((tool) => {
      try {
        return { ...plain(tool), parameters: schemaOf(tool.input) };
      } catch (error) {
        throw new Error(`the tool ${String(tool.name)}: ${text(error)}`);
      }
    }),
    hooks: hooks.map(plain),
  });

  /** What can be sent: functions are told as such, schemas go their own way. */
  const plain = ({ input: _, ...fields }: Fields): Fields =>
    Object.fromEntries(Object.entries(fields).map(([key, value]) => [key, typeof value === 'function' ? true : value]));

  const start = async (): Promise<void> => {
    const module = await load(url);
    const given = isObject(module) ? module.default : undefined;
    if (!isObject(given)) throw new Error('the module has no default export made by defineExtension({ … })');
    extension = given;
    if (given.tools !== undefined && !Array.isArray(given.tools)) throw new Error('tools: expected a list');
    tools = list(given.tools);
    hooks = hooksOf(given.hooks);
    const manifest = manifestOf();
    if (typeof given.onStart === 'function') await given.onStart();
    port.postMessage({ type: 'ready', manifest: JSON.parse(JSON.stringify(manifest)) });
  };

  const settle = async (id: number, work: (signal: AbortSignal) => Promise<ExtensionReply>): Promise<void> => {
    const controller = new AbortController();
    running.set(id, controller);
    let reply: ExtensionReply;
    try {
      reply = await work(controller.signal);
    } catch (error) {
      reply = { ok: false, kind: 'error', problem: text(error) };
    }
    running.delete(id);
    try {
      port.postMessage({ type: 'settled', id, reply });
    } catch (error) {
      port.postMessage({
        type: 'settled',
        id,
        reply: { ok: false, kind: 'error', problem: `its result cannot be passed on: ${text(error)}` },
      });
    }
  };

  const callTool = ({ tool: index, input, facts }: Extract<ToExtension, { type: 'call' }>, signal: AbortSignal) =>
    (async (): Promise<ExtensionReply> => {
      const tool = tools[index];
      const args = await read(tool.input, input);
      if ('problem' in args) return { ok: false, kind: 'input', problem: args.problem };
      return { ok: true, value: await (tool.run as (input: unknown, context: unknown) => unknown)(args.value, { ...facts, signal }) };
    })();

  const callHook = ({ hook: index, input }: Extract<ToExtension, { type: 'hook' }>, signal: AbortSignal) =>
    (async (): Promise<ExtensionReply> => {
      const hook = hooks[index];
      return { ok: true, value: await (hook.run as (input: unknown, context: unknown) => unknown)(input, { signal }) };
    })();

  const stop = async (): Promise<void> => {
    let problem: string | null = null;
    for (const controller of running.values()) controller.abort();
    try {
      if (typeof extension.onStop === 'function') await extension.onStop();
    } catch (error) {
      problem = text(error);
    }
    port.postMessage({ type: 'stopped', problem });
    port.unref(); // whatever still keeps the thread up is the extension's own
  };

  port.on('message', (message) => {
    switch (message.type) {
      case 'call':
        void settle(message.id, (signal) => callTool(message, signal));
        return;
      case 'hook':
        void settle(message.id, (signal) => callHook(message, signal));
        return;
      case 'abort':
        running.get(message.id)?.abort();
        return;
      case 'ping':
        port.postMessage({ type: 'pong' });
        return;
      case 'stop':
        void stop();
        return;
    }
  });
  start().catch((error) => port.postMessage({ type: 'failed', problem: text(error) }));
}

/** A script for the thread. `import` must stand in the text itself: bundled code has none of its own. */
export const extensionScript = (): string =>
  `const { parentPort, workerData } = require('node:worker_threads'); (${runExtension.toString()})(parentPort, (url) => import(url), workerData.url);`;
