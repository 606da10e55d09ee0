import { invalid, type Refusal } from "./refusal.ts";

/** 400 for the number of a part over the limit. */
export function partIndexTooHigh(name: string, limit: number): Refusal {
  return invalid(`body.${name}`, `the number must be at most ${String(limit)}`, { limit });
}

/** For a text field in place of a file. */
export function fileExpected(field: string): Refusal {
  return invalid(field, "must be a file", { hint: "Send the part with a filename." });
}

/** For a file in place of a text field. */
export function textExpected(field: string): Refusal {
  return invalid(field, "must be a text field", { hint: "Send the part without a filename." });
}

/** 400 for a part that is sent twice. */
export function duplicatePart(field: string): Refusal {
  return invalid(field, "is duplicated");
}

/** 400 for a missing part. @param expected - `a file` */
export function partRequired(field: string, expected: string): Refusal {
  return invalid(field, `required (expected ${expected})`);
}

/** 400 for two files of an upload with one destination. @param label - of the file: `body.files[0]` */
export function sameDestination(label: string, otherLabel: string): Refusal {
  return invalid(`${label}[dest_path]`, `leads to the same file as ${otherLabel}[dest_path]`);
}

/** 400 for a destination below another file of the upload. @param label - of the file: `body.files[0]` */
export function destinationBelowFile(label: string, otherLabel: string): Refusal {
  return invalid(`${label}[dest_path]`, `is below ${otherLabel}[dest_path], which is a file`);
}

/** 400 for a list in one part. @param parts - the names of the parts: `files[0][dest_path] and files[0][file]` */
export function listInOnePart(name: string, parts: string): Refusal {
  return invalid(`body.${name.slice(0, 100)}`, "a list must not be one part", { hint: `Send the parts ${parts}.` });
}
