// Everything that clients do with the machine itself, put together: commands, processes, files and the search for them. What
// they left running or watched ends with them.
import type { ClientCommandPorts } from '../client-command.ts';
import type { ClientSession } from '../client-session.ts';
import { commandExecHandlers } from './command-exec.ts';
import { fsHandlers } from './fs.ts';
import { fuzzySearchHandlers } from './fuzzy-search.ts';
import { processExecHandlers } from './process-exec.ts';

export function hostHandlers(ports: ClientCommandPorts) {
  const commands = commandExecHandlers(ports);
  const processes = processExecHandlers(ports);
  const files = fsHandlers();
  const search = fuzzySearchHandlers(ports);
  return {
    handlers: { ...commands.handlers, ...processes.handlers, ...files.handlers, ...search.handlers },
    /** For when one client leaves. */
    async endClient(client: ClientSession): Promise<void> {
      files.endClient(client);
      search.endClient(client);
      await Promise.all([commands.endClient(client), processes.endClient(client)]);
    },
    /** Ends everything, and lets nothing more begin. */
    async endAll(): Promise<void> {
      files.endAll();
      search.endAll();
      await Promise.all([commands.endAll(), processes.endAll()]);
    },
  };
}

export type HostHandlers = ReturnType<typeof hostHandlers>;
