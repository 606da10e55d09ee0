/** Characters of one token in words of the Latin alphabet. */
const charactersInWord = 5;

/**
 * Estimates the tokens of a text: words by their length, digits in groups of three, signs and other scripts one by one.
 */
export function estimateTokens(text: string): number {
  let tokens = 0;
  for (const [part] of text.matchAll(/[A-Za-z]+|\d+|\s+|[^\sA-Za-z\d]/gu)) {
    const first = part.charCodeAt(0);
    if ((first >= 65 && first <= 90) || (first >= 97 && first <= 122))
      tokens += Math.ceil(part.length / charactersInWord);
    else if (first >= 48 && first <= 57) tokens += Math.ceil(part.length / 3);
    // A single space belongs to the next word; an indented line begins with one token.
    else if (/\s/.test(part)) tokens += part.includes("\n") ? 1 : 0;
    else tokens += first < 128 ? 0.6 : 0.9;
  }
  return Math.ceil(tokens);
}
