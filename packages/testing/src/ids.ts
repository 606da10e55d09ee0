import { randomInt } from "node:crypto";

const letters = "abcdefghijklmnopqrstuvwxyz";
const symbols = `${letters}0123456789`;

/** A new identifier of the form that the service makes: a letter and 23 letters or digits. */
export function createId(): string {
  let id = letters.charAt(randomInt(letters.length));
  while (id.length < 24) id += symbols.charAt(randomInt(symbols.length));
  return id;
}
