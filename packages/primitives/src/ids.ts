const letters = "abcdefghijklmnopqrstuvwxyz";
const symbols = `${letters}0123456789`;

/** Returns a new random identifier of 24 characters, `^[a-z][a-z0-9]{23}$`, with 123 bits of entropy. */
export function createId(): string {
  let id = "";
  while (id.length < 24) {
    for (const byte of crypto.getRandomValues(new Uint8Array(32))) {
      const alphabet = id === "" ? letters : symbols;
      // Skip bytes above the largest multiple: they would favour the first symbols.
      if (byte < 256 - (256 % alphabet.length) && id.length < 24) id += alphabet.charAt(byte % alphabet.length);
    }
  }
  return id;
}

/** Returns whether `text` has the form of an identifier from {@link createId}. */
export function isId(text: string): boolean {
  return /^[a-z][a-z0-9]{23}$/.test(text);
}
