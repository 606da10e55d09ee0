import { spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { createReadStream } from "node:fs";
import { mkdir, rm } from "node:fs/promises";
import type { IncomingMessage, ServerResponse } from "node:http";
import { join } from "node:path";
import { pipeline } from "node:stream/promises";

export interface VideosOptions {
  /** Path of ffmpeg. */
  readonly program: string;
  /** Of its output. The process of Playwright's protocol has no access to it. */
  readonly folder: string;
}

interface Film {
  readonly width: number;
  readonly height: number;
  readonly framerate: number;
}

const maxSide = 4096;
const maxFramerate = 60;
const maxBytes = 2 ** 30;

/** Encodes videos of pages. Frames come from the process of Playwright's protocol, which starts no programs. */
export class Videos {
  readonly #options: VideosOptions;

  constructor(options: VideosOptions) {
    this.#options = options;
  }

  /** Takes frames as the body of the request, and answers with the WebM file after the last one. */
  async answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const film = filmIn(request.url ?? "");
    if (film === undefined) {
      response.writeHead(400).end("The size or the frame rate of the video is not possible.");
      return;
    }
    const { folder } = this.#options;
    const path = join(folder, `${randomBytes(8).toString("hex")}.webm`);
    try {
      await mkdir(folder, { recursive: true });
      await this.#encode(request, film, path);
      response.writeHead(200, { "content-type": "video/webm" });
      await pipeline(createReadStream(path), response);
    } catch {
      if (response.headersSent) response.destroy();
      else response.writeHead(500).end("The video could not be encoded.");
    } finally {
      await rm(path, { force: true });
    }
  }

  /** Removes files of videos that did not end. */
  async remove(): Promise<void> {
    await rm(this.#options.folder, { recursive: true, force: true, maxRetries: 5 }).catch(() => undefined);
  }

  async #encode(request: IncomingMessage, film: Film, path: string): Promise<void> {
    const ffmpeg = spawn(this.#options.program, ffmpegArguments(film, path), { stdio: ["pipe", "ignore", "ignore"] });
    const ended = new Promise<number | null>((resolve, reject) => {
      ffmpeg.once("error", reject).once("close", resolve);
    });
    ended.catch(() => undefined);
    try {
      await pipeline(request, ffmpeg.stdin);
    } catch (error) {
      // It stops reading at its limit, and its file is then whole.
      if (!request.complete) {
        ffmpeg.kill("SIGKILL");
        throw error;
      }
    }
    const code = await ended;
    if (code !== 0) throw new Error(`ffmpeg ended with ${String(code)}`);
  }
}

function filmIn(address: string): Film | undefined {
  const { searchParams } = new URL(address, "http://door");
  const numberIn = (name: string, limit: number): number => {
    const value = Number(searchParams.get(name));
    return Number.isInteger(value) && value >= 1 && value <= limit ? value : 0;
  };
  const film = {
    width: numberIn("width", maxSide),
    height: numberIn("height", maxSide),
    framerate: numberIn("framerate", maxFramerate),
  };
  return Object.values(film).includes(0) ? undefined : film;
}

/** The same picture as from Playwright's own ffmpeg. Its input may be forged: one format, one codec, no other files. */
function ffmpegArguments({ framerate, height, width }: Film, path: string): string[] {
  const size = `${String(width)}:${String(height)}`;
  const pixelRate = Math.max(1, (width * height * framerate) / (800 * 450 * 25));
  const threads = Math.min(4, Math.ceil(pixelRate / 4));
  return [
    ...["-loglevel", "error", "-protocol_whitelist", "pipe", "-format_whitelist", "matroska"],
    ...["-codec_whitelist", "mjpeg", "-f", "matroska", "-fpsprobesize", "0", "-probesize", "32"],
    ...["-analyzeduration", "0", "-i", "pipe:0", "-y", "-an", "-r", String(framerate), "-c:v", "libvpx-vp9"],
    ...["-qmin", "0", "-qmax", "50", "-crf", "8", "-deadline", "realtime", "-cpu-used", "8", "-lag-in-frames", "0"],
    ...["-b:v", `${String(Math.round(pixelRate * 1000))}k`, "-threads", String(threads), "-row-mt", "1"],
    ...["-vf", `pad=${size}:0:0:gray,crop=${size}:0:0`, "-fs", String(maxBytes), path],
  ];
}
