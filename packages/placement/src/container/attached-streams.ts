import type { Socket } from "node:net";
import { PassThrough, type Readable, type Writable } from "node:stream";
import { Pace } from "../streams/pace.ts";

/** A byte for the stream, three zeros, and the length as four bytes. */
const headerBytes = 8;
const streams = { stdout: 1, stderr: 2 } as const;
/** Frames, one for each write in the container: well above what instances write. */
const rate = { burst: 20_000, perSecond: 20_000 };

export interface AttachedStreams {
  readonly stdin: Writable;
  readonly stdout: Readable;
  readonly stderr: Readable;
  /** Also ends the standard input of the container. */
  close(): void;
}

/** Splits the frames of an attached container; buffers no frame. Reads very many small ones slowly. */
export function splitAttached(socket: Socket): AttachedStreams {
  const outputs = { [streams.stdout]: new PassThrough(), [streams.stderr]: new PassThrough() };
  const pace = new Pace(rate);
  let header = Buffer.alloc(0);
  let left = 0;
  let output: PassThrough | undefined;
  let isFull = false;
  let isHeld = false;

  function goOn(): void {
    if (!isFull && !isHeld) socket.resume();
  }

  function take(chunk: Buffer): void {
    let frames = 0;
    for (let rest = chunk; rest.length > 0;) {
      if (left === 0) {
        const wanted = headerBytes - header.length;
        header = Buffer.concat([header, rest.subarray(0, wanted)]);
        rest = rest.subarray(wanted);
        if (header.length < headerBytes) continue;
        left = header.readUInt32BE(4);
        frames += 1;
        output = outputs[header.readUInt8(0) as keyof typeof outputs];
        header = Buffer.alloc(0);
      } else {
        const part = rest.subarray(0, left);
        left -= part.length;
        rest = rest.subarray(part.length);
        const full = output;
        if (full?.write(part) !== false || isFull) continue;
        isFull = true;
        socket.pause();
        full.once("drain", () => {
          isFull = false;
          goOn();
        });
      }
    }
    const waitMs = pace.spend(frames);
    if (waitMs === 0) return;
    isHeld = true;
    socket.pause();
    setTimeout(() => {
      isHeld = false;
      goOn();
    }, waitMs).unref();
  }

  socket.on("data", take);
  socket.on("error", () => undefined);
  socket.on("close", () => {
    for (const each of Object.values(outputs)) each.end();
  });
  return {
    stdin: socket,
    stdout: outputs[streams.stdout],
    stderr: outputs[streams.stderr],
    close() {
      socket.destroy();
    },
  };
}
