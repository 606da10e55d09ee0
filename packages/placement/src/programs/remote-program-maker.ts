import type { Box, BoxMaker, HostedProgram } from "../boxes/box.ts";
import type { ProgramMaker, RunningProgram } from "../boxes/program.ts";
import { makeProgramFiles, type ProgramFilesOptions } from "../boxes/program-files.ts";
import { hostedSockets } from "../image/remote-config.ts";
import { reachBox } from "../instances/start-instance.ts";
import type { PlacementLog } from "../interface/placement-log.ts";
import { innerPorts } from "../interface/inner-ports.ts";
import type { ProgramExit, ProgramFolder, ProgramOptions, ProgramPlace } from "../interface/program.ts";
import { HostedConnection } from "./hosted-connection.ts";
import { stat } from "node:fs/promises";
import { finished, type Readable } from "node:stream";
import { setTimeout as sleep } from "node:timers/promises";

export interface RemoteProgramOptions extends ProgramFilesOptions {
  readonly maker: BoxMaker;
  /** Path of Node in the boxes. */
  readonly node: string;
  readonly readyMs: number;
  readonly log: PlacementLog;
}

interface Copy {
  readonly folder: ProgramFolder;
  /** Path in the box. */
  readonly to: string;
}

/** For single files, because only folders can be mounted. */
const filesFolder = "/run/shoal-files";
/** Milliseconds from the end of a program to that of its last lines. */
const lastLinesMs = 30_000;

/** Starts programs in boxes of other machines, like sessions, with copies of their files. */
export class RemoteProgramMaker implements ProgramMaker {
  readonly copiesFiles = true;
  readonly #options: RemoteProgramOptions;

  constructor(options: RemoteProgramOptions) {
    this.#options = options;
  }

  async start(id: string, program: ProgramOptions, signal = new AbortController().signal): Promise<RunningProgram> {
    const { maker, node, ...start } = this.#options;
    if (program.writable.length > 0) throw new Error("Programs on other machines cannot write files of the service.");
    const copies = await Promise.all(program.readOnly.map(copyOf));
    const folders = copies.map(({ to }) => (to.startsWith(`${filesFolder}/`) ? filesFolder : to));
    const files = await makeProgramFiles(id, this.#options, { program });
    const hosted: HostedProgram = { files, copies: [...new Set(folders)], options: program };
    const box = await hostOf(maker, id, hosted).catch(async (error: unknown) => {
      await files.clear();
      throw error;
    });
    return reachBox(box, { ...start, signal }, async ({ deadline, dial }) => {
      const connection = new HostedConnection(dial);
      for (const { folder, to } of copies) await connection.copy(folder, to, deadline);
      const command = program.command(placeOf(node, copies));
      await connection.start({ ...command, folder: program.folder }, deadline);
      const [channel, stdout, stderr] = await Promise.all([
        connection.channel(deadline),
        connection.output("stdout"),
        connection.output("stderr"),
      ]);
      return {
        pid: undefined,
        ...{ channel, stdout, stderr },
        gone: follow(box, connection, [channel, stdout, stderr]),
        kill() {
          box.kill();
        },
        clear: () => box.clear(),
      };
    });
  }
}

async function hostOf(maker: BoxMaker, id: string, hosted: HostedProgram): Promise<Box> {
  if (maker.host === undefined) throw new Error("This machine hosts no programs.");
  return maker.host(id, hosted);
}

async function copyOf(folder: ProgramFolder, index: number): Promise<Copy> {
  const { from, isArchive, to } = folder;
  const isFolder = isArchive === true || (await stat(from)).isDirectory();
  return { folder, to: isFolder ? to : `${filesFolder}/${String(index)}` };
}

function placeOf(node: string, copies: readonly Copy[]): ProgramPlace {
  const moved = new Map(copies.map(({ folder, to }) => [folder.to, to]));
  return {
    node,
    pathOf: (inside) => moved.get(inside) ?? inside,
    channel: hostedSockets.channel,
    forward: [
      { port: innerPorts.api, path: hostedSockets.api },
      { port: innerPorts.proxy, path: hostedSockets.egress },
    ],
    proxyUrl: `http://127.0.0.1:${String(innerPorts.proxy)}`,
    apiUrl: `http://127.0.0.1:${String(innerPorts.api)}`,
  };
}

/** Ends the box after the program, and after everything that it has sent. */
async function follow(box: Box, connection: HostedConnection, streams: readonly Readable[]): Promise<ProgramExit> {
  const received = Promise.all(streams.map(ended));
  const exit = await Promise.race([connection.exit(), box.gone.then(() => undefined)]);
  if (exit !== undefined) {
    const late = new AbortController();
    await Promise.race([
      received,
      box.gone,
      sleep(lastLinesMs, undefined, { signal: late.signal }).catch(() => undefined),
    ]);
    late.abort();
  }
  box.kill();
  const { code, signal } = await box.gone;
  connection.close();
  return exit ?? { code, signal };
}

function ended(stream: Readable): Promise<void> {
  return new Promise((resolve) => {
    finished(stream, { writable: false }, () => {
      resolve();
    });
  });
}
