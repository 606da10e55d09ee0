import type { ProgramMaker, RunningProgram } from "../boxes/program.ts";
import {
  ConnectionDoor,
  makeProgramFiles,
  type ProgramFiles,
  type ProgramFilesOptions,
} from "../boxes/program-files.ts";
import { findTool } from "../host/tools.ts";
import type { ProgramFolder, ProgramOptions } from "../interface/program.ts";
import { startPlain } from "./plain-process.ts";
import { plainEnvironment } from "./process-box.ts";
import { mkdir } from "node:fs/promises";
import { connect, type Socket } from "node:net";
import { join } from "node:path";
import { Duplex } from "node:stream";

const channel = 3;

export class ProcessProgramMaker implements ProgramMaker {
  readonly #options: ProgramFilesOptions;

  constructor(options: ProgramFilesOptions) {
    this.#options = options;
  }

  async start(id: string, program: ProgramOptions): Promise<RunningProgram> {
    const files = await makeProgramFiles(id, this.#options, { program });
    const api = new ConnectionDoor(program.onApiConnection);
    const proxy = new ConnectionDoor((socket) => {
      forward(socket, files.egressSocket);
    });
    async function clear(): Promise<void> {
      await Promise.all([api.close(), proxy.close()]);
      await files.clear();
    }
    try {
      const [apiPort, proxyPort] = await Promise.all([api.listen(), proxy.listen()]);
      const pathOf = pathsOf(files, program);
      for (const folder of program.scratch) await mkdir(pathOf(folder), { recursive: true });
      const { args, env } = program.command({
        pathOf,
        node: process.execPath,
        channel,
        forward: [],
        apiUrl: `http://127.0.0.1:${String(apiPort)}`,
        proxyUrl: `http://127.0.0.1:${String(proxyPort)}`,
      });
      const plain = await startPlain({
        prlimit: process.platform === "linux" ? await findTool("prlimit") : undefined,
        args: [...args, id],
        cwd: pathOf(program.folder),
        env: { ...plainEnvironment(files.root), ...env },
        stdio: ["ignore", "pipe", "pipe", "pipe"],
        sessionDir: files.sessionDir,
      });
      const { stdout, stderr } = plain.child;
      const pipe: unknown = plain.child.stdio[channel];
      if (stdout === null || stderr === null || !(pipe instanceof Duplex))
        throw new Error("The program has no channel.");
      pipe.on("error", () => undefined);
      return {
        pid: plain.pid,
        stdout,
        stderr,
        channel: pipe,
        gone: plain.gone,
        kill() {
          plain.kill();
        },
        clear,
      };
    } catch (error) {
      await clear();
      throw error;
    }
  }
}

function pathsOf({ root }: ProgramFiles, { readOnly, writable }: ProgramOptions): (inside: string) => string {
  const folders: readonly ProgramFolder[] = [...readOnly, ...writable].toSorted((a, b) => b.to.length - a.to.length);
  return (inside) => {
    const folder = folders.find(({ to }) => inside === to || inside.startsWith(`${to}/`));
    return folder === undefined ? join(root, inside) : join(folder.from, inside.slice(folder.to.length));
  };
}

function forward(inner: Socket, path: string): void {
  const outer = connect({ path, allowHalfOpen: true });
  for (const [socket, other] of [
    [inner, outer],
    [outer, inner],
  ] as const) {
    socket.on("error", () => undefined);
    socket.on("close", () => {
      if (!socket.readableEnded) other.destroy();
    });
    socket.pipe(other);
  }
}
