import { Fragment, type ReactNode } from "react";

const longWord = 16;
/** Longer texts, such as data that a page logs, would have too many parts. */
const maxLength = 2000;
const places = /(?<=[/?&=])(?=[a-z\d])|(?<=[.,@(])(?=[a-z])/i;

/**
 * A text whose long words, such as addresses, break after their punctuation where a line is too short.
 * @param minLength - of a word that may break. Default 16.
 */
export function breakable(text: string, minLength = longWord): ReactNode {
  if (text.length > maxLength) return text;
  const parts = text.split(/(\s+)/).flatMap((word) => (word.length < minLength ? [word] : word.split(places)));
  if (parts.length === 1) return text;
  return parts.map((part, index) => (
    <Fragment key={index}>
      {index > 0 && <wbr />}
      {part}
    </Fragment>
  ));
}
