import { randomBytes } from "node:crypto";

const letters = "abcdefghijklmnopqrstuvwxyz";
const symbols = `${letters}0123456789`;

/** A new identifier, 24 characters `^[a-z][a-z0-9]{23}$`: 123 bits of chance. */
export function createId(): string {
  let id = "";
  while (id.length < 24) {
    for (const byte of randomBytes(32)) {
      // The first character is a letter. Bytes beyond the largest multiple would favour the first symbols.
      const alphabet = id === "" ? letters : symbols;
      if (byte < 256 - (256 % alphabet.length) && id.length < 24) id += alphabet.charAt(byte % alphabet.length);
    }
  }
  return id;
}

/** Whether a text can be an identifier that {@link createId} made. */
export function isId(text: string): boolean {
  return /^[a-z][a-z0-9]{23}$/.test(text);
}
