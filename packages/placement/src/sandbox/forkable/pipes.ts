import { spawn } from "node:child_process";
import { closeSync, constants, openSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { Socket } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";

/** The standard streams of a box, as pipes. Node connects children with sockets, which CRIU cannot store. */
export interface StandardPipes {
  /** Descriptors for the box. Close them after its start. */
  readonly inside: readonly [stdin: number, stdout: number, stderr: number];
  readonly stdin: Socket;
  readonly stdout: Socket;
  readonly stderr: Socket;
  /** If no box has been started with them. */
  readonly close: () => void;
}

const pollMs = 1;
const deadlineMs = 10_000;

/** Borrows the pipes of a shell's pipeline, because Node cannot create any. Linux only. */
export async function openStandardPipes(): Promise<StandardPipes> {
  const shell = spawn("/bin/sh", ["-c", "cat | cat | cat | cat; :"], { stdio: ["pipe", "ignore", "ignore"] });
  shell.on("error", () => undefined);
  const opened: number[] = [];
  let members: readonly number[] = [];
  function open(place: number, fd: number, flags: number): number {
    const descriptor = openSync(`/proc/${String(members[place])}/fd/${String(fd)}`, flags);
    opened.push(descriptor);
    return descriptor;
  }
  try {
    members = await membersOf(shell.pid ?? 0);
    const { O_RDONLY: reading, O_WRONLY: writing, O_NONBLOCK: unblocked } = constants;
    const inside = [open(1, 0, reading), open(1, 1, writing), open(2, 1, writing)] as const;
    const outside = [
      open(0, 1, writing | unblocked),
      open(2, 0, reading | unblocked),
      open(3, 0, reading | unblocked),
    ] as const;
    const [stdin, stdout, stderr] = [
      new Socket({ fd: outside[0], readable: false, writable: true }),
      new Socket({ fd: outside[1], readable: true, writable: false }),
      new Socket({ fd: outside[2], readable: true, writable: false }),
    ];
    return {
      ...{ inside, stdin, stdout, stderr },
      close() {
        for (const stream of [stdin, stdout, stderr]) stream.destroy();
      },
    };
  } catch (error) {
    for (const descriptor of opened) closeSync(descriptor);
    throw error;
  } finally {
    // Without a byte between them, none of them would end alone while the pipes are open.
    for (const pid of members)
      try {
        process.kill(pid, "SIGKILL");
      } catch {
        // It has just ended.
      }
    shell.stdin.destroy();
  }
}

/** Waits until the four programs have their pipes. */
async function membersOf(shell: number): Promise<readonly number[]> {
  const path = `/proc/${String(shell)}/task/${String(shell)}/children`;
  const untilMs = performance.now() + deadlineMs;
  while (performance.now() < untilMs) {
    const members = ((await readFile(path, "utf8")).match(/\d+/g) ?? []).map(Number);
    const names = await Promise.all(
      members.map((pid) => readFile(`/proc/${String(pid)}/comm`, "utf8").catch(() => "")),
    );
    if (members.length === 4 && names.every((name) => name === "cat\n")) return members;
    await sleep(pollMs);
  }
  throw new Error("A shell did not open pipes in time.");
}
