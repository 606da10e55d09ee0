import type { Socket } from "node:net";
import { PassThrough, type Readable, type Writable } from "node:stream";

/** A byte for the stream, three zeros, and the length as four bytes. */
const headerBytes = 8;
const streams = { stdout: 1, stderr: 2 } as const;

export interface AttachedStreams {
  readonly stdin: Writable;
  readonly stdout: Readable;
  readonly stderr: Readable;
  /** Also ends the standard input of the container. */
  close(): void;
}

/** Splits the frames of an attached container; buffers no frame. */
export function splitAttached(socket: Socket): AttachedStreams {
  const outputs = { [streams.stdout]: new PassThrough(), [streams.stderr]: new PassThrough() };
  let header = Buffer.alloc(0);
  let left = 0;
  let output: PassThrough | undefined;

  function take(chunk: Buffer): void {
    for (let rest = chunk; rest.length > 0;) {
      if (left === 0) {
        const wanted = headerBytes - header.length;
        header = Buffer.concat([header, rest.subarray(0, wanted)]);
        rest = rest.subarray(wanted);
        if (header.length < headerBytes) return;
        left = header.readUInt32BE(4);
        output = outputs[header.readUInt8(0) as keyof typeof outputs];
        header = Buffer.alloc(0);
      } else {
        const part = rest.subarray(0, left);
        left -= part.length;
        rest = rest.subarray(part.length);
        const full = output;
        if (full?.write(part) !== false || socket.isPaused()) continue;
        socket.pause();
        full.once("drain", () => socket.resume());
      }
    }
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
