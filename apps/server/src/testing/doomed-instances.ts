import type { Instance, OpenedExtension, Placement, SessionFiles } from "@shoal/placement";
import { readdirSync, readFileSync } from "node:fs";
import { Readable } from "node:stream";
import { withMembers } from "./with-members.ts";

/** Kills an instance at a moment of its session. */
export interface Doom {
  /**
   * A file of the start, the whole start, or method and beginning of the path of a later request: `GET
   * /_instance/profile`.
   */
  readonly at: "extensions" | "profile" | "start" | `${"GET" | "POST"} /${string}`;
  /** `before` = before the file or request is sent; `during` = after its first bytes; `after` = after the answer. */
  readonly when: "before" | "during" | "after";
}

export interface DoomedInstances {
  readonly around: (placement: Placement) => Placement;
  doom(next: Doom): void;
  isDone(): boolean;
}

/** Kills real instances of the process placement in this process. */
export function doomedInstances(): DoomedInstances {
  let next: Doom | undefined;

  function take(at: string): Doom["when"] | undefined {
    if (next === undefined || !at.startsWith(next.at)) return undefined;
    const { when } = next;
    next = undefined;
    return when;
  }

  function mortal(instance: Instance): Instance {
    const request: Instance["request"] = async (init, body) => {
      const when = take(`${init.method} ${init.path}`);
      if (when === "before") await kill(instance);
      const answering = instance.request(init, body);
      if (when === "during") process.kill(instance.pid ?? Number.NaN, "SIGKILL");
      const answer = await answering;
      if (when === "after") await kill(instance);
      return answer;
    };
    return withMembers(instance, { request });
  }

  async function openDoomed<File extends Readable | OpenedExtension>(
    at: "extensions" | "profile",
    open: () => Promise<File>,
    withStream: (file: File) => File,
  ): Promise<File> {
    const when = take(at);
    if (when === "before") killFirst();
    const file = await open();
    return when === "during" ? withStream(file) : file;
  }

  const mortalFiles = ({ extensions, profile }: SessionFiles): SessionFiles => ({
    extensions: extensions?.map(
      (open) => () => openDoomed("extensions", open, (file) => ({ ...file, stream: killing(file.stream) })),
    ),
    profile: profile && (() => openDoomed("profile", profile, killing)),
  });

  return {
    around: (placement) =>
      withMembers(placement, {
        async acquire(assign, signal, { files, ...surroundings } = {}) {
          const given = { ...surroundings, files: files && mortalFiles(files) };
          const instance = await placement.acquire(assign, signal, given);
          if (take("start") !== undefined) await kill(instance);
          return mortal(instance);
        },
      }),
    doom(doom) {
      next = doom;
    },
    isDone: () => next === undefined,
  };
}

async function kill({ ended, pid }: Instance): Promise<void> {
  process.kill(pid ?? Number.NaN, "SIGKILL");
  await ended;
}

/** Passes on the first bytes, then kills the instance. */
function killing(stream: Readable): Readable {
  async function* bytes(): AsyncGenerator<Buffer, void, undefined> {
    let isFirst = true;
    for await (const chunk of stream as AsyncIterable<Buffer>) {
      yield isFirst ? chunk.subarray(0, 1) : chunk;
      if (isFirst) killFirst();
      if (isFirst) yield chunk.subarray(1);
      isFirst = false;
    }
  }
  return Readable.from(bytes(), { objectMode: false });
}

/** Kills the instance that started first. An instance has no handle while it is acquired. */
function killFirst(): void {
  const [first] = readdirSync("/proc")
    .filter((entry) => /^\d+$/.test(entry) && isInstance(entry))
    .map(Number)
    .sort((one, other) => one - other);
  if (first === undefined) throw new Error("No instance runs.");
  process.kill(first, "SIGKILL");
}

function isInstance(pid: string): boolean {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
    const [state, parent] = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
    if (state === "Z" || Number(parent) !== process.pid) return false;
    return readFileSync(`/proc/${pid}/environ`, "utf8").includes("SHOAL_INSTANCE=");
  } catch {
    return false;
  }
}
