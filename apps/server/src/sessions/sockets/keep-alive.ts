import { encodeFrame, opcode } from "@shoal/instance";

const headerBytes = 6;
/** In one piece. The instance gets more. */
const maxAnswers = 64;

/**
 * Reads bytes that begin between two frames of a client.
 * @returns the answers to its pings if the bytes are nothing but whole pings and pongs; otherwise `undefined`.
 */
export function keepAliveAnswers(bytes: Buffer): Buffer[] | undefined {
  const answers: Buffer[] = [];
  for (let at = 0; at < bytes.length;) {
    const first = bytes[at] ?? 0;
    const second = bytes[at + 1] ?? 0;
    const length = second & 0x7f;
    const end = at + headerBytes + length;
    const isPing = first === (0x80 | opcode.ping);
    const isMasked = (second & 0x80) !== 0;
    if ((!isPing && first !== (0x80 | opcode.pong)) || !isMasked || length > 125 || end > bytes.length)
      return undefined;
    if (isPing) answers.push(encodeFrame(opcode.pong, unmasked(bytes.subarray(at + 2, end))));
    if (answers.length > maxAnswers) return undefined;
    at = end;
  }
  return answers;
}

/** Whether bytes of an instance are one pong, its answer to the ping of a client. */
export function isPong(bytes: Buffer): boolean {
  return bytes[0] === (0x80 | opcode.pong) && bytes.length === 2 + (bytes[1] ?? 0);
}

function unmasked(masked: Buffer): Buffer {
  const mask = masked.subarray(0, 4);
  return masked.subarray(4).map((byte, index) => byte ^ (mask[index & 3] ?? 0)) as Buffer;
}
