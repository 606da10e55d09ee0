import type { TimedLine } from "./timed-line.ts";

export interface Chapter {
  readonly title: string;
  readonly offset_seconds: number;
}

export function chapterLines(marks: readonly Chapter[]): TimedLine[] {
  return marks.map(({ title, offset_seconds: atSeconds }, index) => ({
    key: `chapter ${index}`,
    kind: "chapter",
    atSeconds,
    text: title,
  }));
}
