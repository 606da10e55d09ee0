import childProcess from "node:child_process";
import { EventEmitter } from "node:events";
import { createWriteStream } from "node:fs";
import { type ClientRequest, type IncomingMessage, request } from "node:http";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { registry } from "playwright-core/lib/coreBundle";

/** Greater than every process id: signals to it fail. */
const noProcess = 2 ** 30;

/**
 * Sends the frames of Playwright's videos to the instance, which encodes them. Playwright would start its own ffmpeg, and this
 * process starts no programs.
 * @param door - the address of the instance.
 */
export function sendVideosTo(door: () => string | undefined): void {
  registry.registry.findExecutable("ffmpeg").executablePathOrDie = () => "ffmpeg";
  Object.assign(childProcess, {
    spawn(_command: string, args: readonly string[] = []) {
      const address = door();
      if (address === undefined) throw new Error("Programs are not started.");
      return new VideoProcess(address, args);
    },
  });
}

/** What Playwright uses of the process of ffmpeg. */
class VideoProcess extends EventEmitter {
  readonly pid = noProcess;
  readonly killed = false;
  readonly stdin: ClientRequest;
  readonly stdout = Readable.from([]);
  readonly stderr = Readable.from([]);

  constructor(door: string, args: readonly string[]) {
    super();
    const { framerate, height, path, width } = filmOf(args);
    const query = new URLSearchParams({ width, height, framerate });
    this.stdin = request(`${door}?${query.toString()}`, { method: "POST", agent: false });
    this.stdin.once("response", (response) => void this.#save(response, path));
    this.stdin.once("error", () => {
      this.#end(1);
    });
  }

  async #save(response: IncomingMessage, path: string): Promise<void> {
    try {
      if (response.statusCode !== 200) throw new Error("The video could not be encoded.");
      await pipeline(response, createWriteStream(path));
      this.#end(0);
    } catch {
      response.destroy();
      this.#end(1);
    }
  }

  #end(code: number): void {
    this.emit("exit", code, null);
    this.emit("close", code, null);
  }
}

/** @throws if this version of Playwright has other arguments, or for another program. */
function filmOf(args: readonly string[]) {
  const path = args.at(-1) ?? "";
  const [, width = "", height = ""] = /^pad=(\d+):(\d+):0:0:gray,crop=/.exec(args[args.indexOf("-vf") + 1] ?? "") ?? [];
  const framerate = args[args.indexOf("-r") + 1] ?? "";
  if (width === "" || !path.endsWith(".webm")) throw new Error("Programs are not started.");
  return { width, height, framerate, path };
}
