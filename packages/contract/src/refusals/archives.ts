import { invalid, type Refusal } from "./refusal.ts";

/** Why an entry of an archive is unsafe: the reason and, where one exists, the next step. */
export type UnsafeReason = readonly [reason: string, hint?: string];

const field = "body.zip_file";
const relativeNames = "Make the archive with relative names.";
const unchanged = "Nothing was unpacked.";

/** Reasons of {@link unsafeEntry}. */
export const unsafeReasons = {
  absolute: ["its name is absolute", relativeNames],
  absoluteLink: ["it is a symbolic link with an absolute target", "Make the target relative."],
  backslash: ["its name contains a backslash", "Separate directories with /."],
  climbingLink: [
    'it is a symbolic link with ".." after a name, which may lead anywhere',
    'Write its target without "..".',
  ],
  device: ["it is a device, a named pipe or a socket"],
  drive: ["its name begins with a drive letter", relativeNames],
  duplicate: ["it is duplicated"],
  encrypted: ["it is encrypted", "Make the archive without a password."],
  leavingLink: ["it is a symbolic link that leads out of the directory"],
  nameless: ["it has no name"],
  nul: ["its name contains a NUL character"],
  parent: ['its name contains "..", which leads out of the directory'],
  targetless: ["it is a symbolic link without a valid target"],
  /** For an entry below an entry that is not a directory. */
  belowOther: (kind: string) => [`it is below another entry that is a ${kind}`],
  /** For two entries of one name and of different kinds. */
  otherKind: (kind: string, other: string) => [`it is a ${kind}, and another entry of the same name is a ${other}`],
  /** For an entry that is compressed too strongly. */
  ratio: (limit: number, fromText: string) => [
    `it unpacks to more than ${String(limit)} times its packed size, the limit from ${fromText} on`,
    "Send this file with browsers.fs.upload.",
  ],
} as const satisfies Record<string, UnsafeReason | ((...values: never[]) => UnsafeReason)>;

/** 400 for an archive with an unsafe entry. */
export function unsafeEntry(name: string, [reason, hint]: UnsafeReason): Refusal {
  return {
    status: 400,
    code: "unsafe_archive",
    problem: `the entry ${JSON.stringify(name.slice(0, 200))} is refused: ${reason}`,
    field,
    hint: hint === undefined ? unchanged : `${unchanged} ${hint}`,
  };
}

/** 400 for an upload that is not a complete ZIP archive. @param reason - of the archive library. */
export function unreadableArchive(reason: string): Refusal {
  return invalid(field, `not a ZIP archive that can be read, or not all of it: ${reason}`, { hint: unchanged });
}
