/** Fixed data for the pages, the same in each run. */
const words =
  "harbour net tide anchor lantern crate ledger oak copper saddle wool paper orchard bridge kettle marble cinder maple silver canvas rope tunnel garden window river stone cotton ginger pepper basil".split(
    " ",
  );
export const people = ["Ada Lund", "Ben Okoro", "Chiara Rossi", "Dmitri Volkov", "Elif Kaya", "Femi Ade", "Grace Kim"];

/** `count` words; different for each `seed`. */
export function wordsOf(seed: number, count: number): string {
  return Array.from(
    { length: count },
    (_, place) => words[(seed * 7 + place * 11 + ((seed * place) % 5)) % words.length],
  )
    .join(" ")
    .replace(/^./, (first) => first.toUpperCase());
}

export function sentences(seed: number, count: number): string {
  return Array.from({ length: count }, (_, place) => `${wordsOf(seed + place * 3, 9 + ((seed + place) % 8))}.`).join(
    " ",
  );
}

export function repeat(count: number, write: (place: number) => string): string {
  return Array.from({ length: count }, (_, place) => write(place)).join("\n");
}
