/** Scripts of East Asia and symbols, where most characters are a token. */
const dense =
  /[\u{1100}-\u{11FF}\u{2E80}-\u{A4CF}\u{AC00}-\u{D7FF}\u{F900}-\u{FAFF}\u{FF00}-\u{FFEF}\u{1F000}-\u{3FFFF}]/gu;
const charactersPerToken = 4;

/** Estimates the tokens of a text for a language model: one for four characters, or one for a dense character. */
export function estimateTokens(text: string): number {
  let denseCharacters = 0;
  let denseUnits = 0;
  for (const [character] of text.matchAll(dense)) {
    denseCharacters++;
    denseUnits += character.length;
  }
  return denseCharacters + Math.ceil((text.length - denseUnits) / charactersPerToken);
}
