import type * as contract from "@shoal/contract";
import type { Handler } from "@shoal/router";
import { invalidInput } from "../fs/errors.ts";
import type { NamedProcess } from "./named-process.ts";
import { type ProcessesOptions, Processes } from "./processes.ts";
import type { CommandSurroundings } from "./command.ts";
import { sessionMembership } from "./tracking/escaped-processes.ts";
import { defaultProcessLimits, type ProcessLimits } from "./limits.ts";

export interface ProcessHandlers {
  readonly execProcess: Handler<typeof contract.execProcess, unknown>;
  readonly spawnProcess: Handler<typeof contract.spawnProcess, unknown>;
  readonly listProcesses: Handler<typeof contract.listProcesses, unknown>;
  readonly getProcessStatus: Handler<typeof contract.getProcessStatus, unknown>;
  readonly streamProcessOutput: Handler<typeof contract.streamProcessOutput, unknown>;
  readonly writeProcessStdin: Handler<typeof contract.writeProcessStdin, unknown>;
  readonly killProcess: Handler<typeof contract.killProcess, unknown>;
  readonly resizeProcessTerminal: Handler<typeof contract.resizeProcessTerminal, unknown>;
}

export interface SessionProcesses {
  readonly handlers: ProcessHandlers;
  find(id: string): NamedProcess;
  /** Number of running commands. */
  readonly running: number;
  close(): Promise<void>;
}

export function sessionProcesses(
  surroundings: CommandSurroundings,
  options: { readonly limits?: Partial<ProcessLimits>; readonly onStarted?: ProcessesOptions["onStarted"] } = {},
): SessionProcesses {
  const processes = new Processes(surroundings, {
    limits: { ...defaultProcessLimits, ...options.limits },
    onStarted: options.onStarted ?? (() => undefined),
    inSession: sessionMembership(surroundings.root.directory === "/"),
  });
  return {
    find: (id) => processes.find(id),
    get running() {
      return processes.running;
    },
    close: () => processes.close(),
    handlers: {
      execProcess: ({ body, signal }) => processes.exec(body, signal),
      spawnProcess: ({ body }) => processes.spawn(body),
      listProcesses: ({ query }) => processes.list(query),
      getProcessStatus: ({ params }) => processes.find(params.process_id).status(),
      streamProcessOutput: ({ params, lastEventId }) => processes.find(params.process_id).output.read(lastEventId),
      writeProcessStdin: async ({ body, params, signal }) => ({
        written_bytes: await processes
          .find(params.process_id)
          .write(Buffer.from(body.data_b64, "base64"), { close: body.close === true, signal }),
      }),
      killProcess: ({ body, params }) => {
        processes.find(params.process_id).kill(`SIG${body.signal}`);
        return { ok: true };
      },
      resizeProcessTerminal: ({ body, params }) => {
        const { resize } = processes.find(params.process_id);
        if (resize === undefined)
          throw invalidInput("params.process_id", "the process has no terminal", {
            hint: "Start it with allocate_tty to give it one.",
          });
        resize(body.cols, body.rows);
        return { ok: true };
      },
    },
  };
}
