import { Fragment, type ReactNode } from "react";

const minLength = 16;
const places = /(?<=[/.:?&=,_@(-])(?=[^/.:?&=,_@)-])/;

/** A text whose long words, such as addresses, break after their punctuation where a line is too short. */
export function breakable(text: string): ReactNode {
  const parts = text.split(/(\s+)/).flatMap((word) => (word.length < minLength ? [word] : word.split(places)));
  if (parts.length === 1) return text;
  return parts.map((part, index) => (
    <Fragment key={index}>
      {index > 0 && <wbr />}
      {part}
    </Fragment>
  ));
}
