import { accountPolish } from "./polish/account.ts";
import { browserPolish } from "./polish/browsers.ts";
import { filePolish } from "./polish/files.ts";
import { insidePolish } from "./polish/inside.ts";
import { orgPolish } from "./polish/org.ts";
import { resourcePolish } from "./polish/resources.ts";

/** A column of a table: its heading, and the field that it shows. */
export type Column = readonly [heading: string, field: string];

/** What only people need of a command, by operation: arguments instead of flags, columns of its table, examples, a question before it runs. Data alone: it becomes part of the table of commands when the command is built. */
export interface Polish {
  /** Words of the command, where they differ from the operation's name. */
  readonly words?: readonly string[];
  /** Other names of the command's last word, taken and not advertised. */
  readonly alias?: readonly string[];
  /** What the argument for the path parameter `id` takes, where that is more than an id. */
  readonly id?: string;
  /** Fields that are arguments, in order, instead of flags. */
  readonly arguments?: readonly string[];
  /** A list that takes all further arguments; `--` before them keeps their dashes. */
  readonly rest?: string;
  /** Flags with a short form or another name, by field. */
  readonly flags?: Readonly<Record<string, string>>;
  /** Columns of the table. */
  readonly columns?: readonly Column[];
  /** Said on stderr instead of an empty table. */
  readonly empty?: string;
  /** Fields that stand at the top when one object is shown. */
  readonly first?: readonly string[];
  /** Lines for stderr, below an object that a person reads: what to do with it. `{name|id}` is the first of the result's fields that is there. */
  readonly next?: readonly string[];
  /** The result is a document: printed as JSON instead of a table. */
  readonly raw?: true;
  /** A field whose text is all that a person wants. */
  readonly text?: string;
  /** Asked before the command runs; `{0}` is its first argument. */
  readonly confirm?: string;
  /** It is asked only where this field has this value. */
  readonly confirmOnly?: { readonly field: string; readonly value: string | boolean };
  /** Printed on stderr when it worked and there is nothing to show; `{0}` is its first argument. */
  readonly done?: string;
  /** Said on stderr when the service answered that there is nothing (204) or not yet (202). */
  readonly nothing?: string;
  /** `--watch` asks again until this field has one of these values; without them, and of a list, until Ctrl-C. */
  readonly watch?: { readonly field: string; readonly until: readonly string[] };
  /** A stream that has nothing to print while this field of another operation's answer has nothing enabled: what to say then; `{0}` is the first argument. */
  readonly silentWithout?: { readonly operation: string; readonly field: string; readonly notice: string };
  /** The last argument may be given several times: one call for each. */
  readonly many?: true;
  readonly examples?: readonly string[];
}

/** By operation. */
export const polish: Readonly<Record<string, Polish>> = {
  ...accountPolish,
  ...browserPolish,
  ...filePolish,
  ...insidePolish,
  ...orgPolish,
  ...resourcePolish,
};
