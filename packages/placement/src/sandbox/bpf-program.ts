/** Classic BPF. Jumps count the instructions to skip. */
export type Instruction = readonly [code: number, jumpTrue: number, jumpFalse: number, value: number];

export function loadWord(offset: number): Instruction {
  return [0x20, 0, 0, offset];
}

export function maskWith(mask: number): Instruction {
  return [0x54, 0, 0, mask];
}

export function respond(value: number): Instruction {
  return [0x06, 0, 0, value];
}

/** `block` must end with {@link respond}. */
export function whenEqual(value: number, block: readonly Instruction[]): readonly Instruction[] {
  return [[0x15, 0, block.length, value], ...block];
}

export function unlessEqual(value: number, block: readonly Instruction[]): readonly Instruction[] {
  return [[0x15, block.length, 0, value], ...block];
}

/** Compares unsigned. */
export function whenAtLeast(value: number, block: readonly Instruction[]): readonly Instruction[] {
  return [[0x35, 0, block.length, value], ...block];
}

/** For little-endian processors. */
export function encodeProgram(program: readonly Instruction[]): Buffer {
  const bytes = Buffer.alloc(program.length * 8);
  for (const [index, [code, jumpTrue, jumpFalse, value]] of program.entries()) {
    bytes.writeUInt16LE(code, index * 8);
    bytes.writeUInt8(jumpTrue, index * 8 + 2);
    bytes.writeUInt8(jumpFalse, index * 8 + 3);
    bytes.writeUInt32LE(value, index * 8 + 4);
  }
  return bytes;
}
