/** One instruction of the kernel's classic BPF machine. Jumps count the instructions to skip. */
export type Instruction = readonly [code: number, jumpTrue: number, jumpFalse: number, value: number];

/** Loads 32 bits of the data that the filter looks at. */
export function loadWord(offset: number): Instruction {
  return [0x20, 0, 0, offset];
}

/** Clears all bits of the loaded word that `mask` does not have. */
export function maskWith(mask: number): Instruction {
  return [0x54, 0, 0, mask];
}

/** Ends the filter with an answer. */
export function respond(value: number): Instruction {
  return [0x06, 0, 0, value];
}

/** Runs `block`, which ends with {@link respond}, when the loaded word is `value`. */
export function whenEqual(value: number, block: readonly Instruction[]): readonly Instruction[] {
  return [[0x15, 0, block.length, value], ...block];
}

/** Runs `block`, which ends with {@link respond}, when the loaded word is another than `value`. */
export function unlessEqual(value: number, block: readonly Instruction[]): readonly Instruction[] {
  return [[0x15, block.length, 0, value], ...block];
}

/** Runs `block`, which ends with {@link respond}, when the loaded word is `value` or more, unsigned. */
export function whenAtLeast(value: number, block: readonly Instruction[]): readonly Instruction[] {
  return [[0x35, 0, block.length, value], ...block];
}

/** Encodes a program as the kernel reads it, on processors that store the low byte first. */
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
