/** Longest words that are usually one token, in characters. */
const latinWord = 7;
const otherWord = 4;
/** Signs sometimes share a token; so do characters of Chinese and Japanese. */
const tokensPerSign = 0.8;
const tokensPerDenseCharacter = 0.8;
const digitsPerToken = 3;

/** Words of the Latin alphabet, of others, numbers, line breaks, and scripts and signs that have a token for each. */
const parts =
  /([A-Za-z\u00C0-\u024F]+)|([\p{Script=Cyrillic}\p{Script=Greek}\p{Script=Arabic}\p{Script=Hebrew}]+)|(\d+)|(\n\s*)|([^\s\0-\u02FF])|[!-/:-@[-`{-~\u0080-\u02FF]/gu;

/** Estimates the tokens of a text for a language model: for common texts 0.8 to 1.25 times the real number. */
export function estimateTokens(text: string): number {
  let tokens = 0;
  for (const [part, latin, other, digits, line, dense] of text.matchAll(parts)) {
    if (latin !== undefined) tokens += Math.ceil(part.length / latinWord);
    else if (other !== undefined) tokens += Math.ceil(part.length / otherWord);
    else if (digits !== undefined) tokens += Math.ceil(part.length / digitsPerToken);
    else if (line !== undefined) tokens += 1;
    else tokens += dense === undefined ? tokensPerSign : tokensPerDenseCharacter;
  }
  return Math.ceil(tokens);
}
