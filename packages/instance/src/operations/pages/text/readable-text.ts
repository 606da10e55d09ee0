/** Controls, zero-width and bidirectional marks, tags and variation selectors: they can carry hidden text. */
const invisible = /[\p{Cc}\p{Cf}\p{Variation_Selector}]/gu;
/** Line breaks, joiners of words and emoji, selectors of emoji, and Arabic number signs. */
const kept = /[\t\n\r\u{600}-\u{605}\u{6DD}\u{70F}\u{890}\u{891}\u{8E2}]|\u{200C}|\u{200D}|\u{FE0E}|\u{FE0F}/u;

/** Signs that say something in a text that styles add; others decorate. */
export const tellingSign = /[\p{L}\p{N}\p{Sc}%*]/u;

/** Removes characters that no person sees. */
export function readableText(text: string): string {
  return text
    .replace(invisible, (character) => (kept.test(character) ? character : ""))
    .replace(/\r\n?/g, "\n")
    .toWellFormed();
}
