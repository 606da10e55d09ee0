import type { Command } from "commander";

export type Column = readonly [heading: string, field: string];

export type FlagPlace = "query" | "body";

/** `file` is a part of a multipart body: the path of a local file. `size` is written WIDTHxHEIGHT[@HZ]. */
export type FlagKind = "string" | "integer" | "number" | "boolean" | "map" | "list" | "json" | "file" | "size";

export interface Flag {
  /** On the wire: `timeout_seconds`; `profile.id` for a field of an object. */
  readonly field: string;
  readonly place: FlagPlace;
  readonly kind: FlagKind;
  readonly values?: readonly string[];
  readonly required: boolean;
  /** Whether the word `null` clears the value. */
  readonly clearable: boolean;
  readonly description: string;
  readonly default?: unknown;
  readonly maximum?: number;
  /** Help omits the flag of an object whose fields have flags. */
  readonly hidden?: true;
  /** On by default, so help shows `--no-…`. */
  readonly negated?: true;
  /** May be read from stdin or a file, to keep it out of the process list. */
  readonly secret?: true;
}

export type ResultKind = "json" | "page" | "tokenPage" | "empty" | "bytes" | "events";

/**
 * Everything special about one operation's command, as JSON. In texts, `{0}` is the first argument, and `{name|id}` is
 * the first of these fields of the result that has a value.
 */
export interface CommandEntry {
  /** A verb phrase without a final period. */
  readonly summary?: string;
  /** Help below the summary: sentences. */
  readonly about?: string;
  /** Overrides the shared texts of `flag-help.ts`, by field. */
  readonly help?: Readonly<Record<string, string>>;
  /** Boolean fields that are true by default, beyond those whose schema says so. Help shows `--no-headless`. */
  readonly onByDefault?: readonly string[];
  /** Default: from the operation's id. */
  readonly words?: readonly string[];
  /** Other names of the last word. Help does not list them. */
  readonly alias?: readonly string[];
  /** Help of the path parameter `id`, where it also takes a name. */
  readonly id?: string;
  /** Fields that are positional arguments instead of flags, in order. */
  readonly arguments?: readonly string[];
  /** A list field that takes all further arguments; `--` protects arguments that begin with a dash. */
  readonly rest?: string;
  /** By field, optionally with a short form: `-t, --timeout-seconds`. */
  readonly flags?: Readonly<Record<string, string>>;
  readonly columns?: readonly Column[];
  /** Printed on stderr instead of an empty table. */
  readonly empty?: string;
  /** Printed first when one object is shown. */
  readonly first?: readonly string[];
  /** Printed on a terminal instead of all fields. Lines with a missing field are omitted. */
  readonly brief?: readonly string[];
  /** Prints rows that are computed from the items, or a line for each event, instead of the items. */
  readonly rows?: "sessions" | "events";
  /** Next steps, printed on stderr below an object. */
  readonly next?: readonly string[];
  /** Print JSON instead of a table. */
  readonly raw?: true;
  /** Print only the text of this field. */
  readonly text?: string;
  /** A question before the command runs. */
  readonly confirm?: string;
  /** Ask only if this field has this value. */
  readonly confirmOnly?: { readonly field: string; readonly value: string | boolean };
  /** Printed on stderr after success with an empty result. */
  readonly done?: string;
  /** Printed on stderr for status 204 (nothing) or 202 (not ready yet). */
  readonly nothing?: string;
  /** `--watch` polls until this field has one of these values; without values, or for a list, until Ctrl-C. */
  readonly watch?: { readonly field: string; readonly until: readonly string[] };
  /** The stream is silent unless this field of another operation's answer enables something; `notice` reports that. */
  readonly silentWithout?: { readonly operation: string; readonly field: string; readonly notice: string };
  /** The last argument may be repeated: one call for each. */
  readonly many?: true;
  /** Read this field from stdin when its argument is `-`. */
  readonly stdin?: string;
  /** Print the result of a program or code as if it had run here; the effects of an action on a page as sentences; an outline as text. */
  readonly outcome?: "process" | "code" | "repl" | "act" | "outline";
  /** The download comes in chunks, each with a checksum and a cursor to the next one. */
  readonly chunks?: true;
  /** Fail with this message when the field is false, after printing the result. */
  readonly failsUnless?: { readonly field: string; readonly message: string };
  /** Fields of days that also take `7d`, seven days ago. */
  readonly relativeDays?: readonly string[];
  /** By field, a moment that also takes how long ago it was, as `2h`; the value is used without the flag. */
  readonly moments?: Readonly<Record<string, string>>;
  /** Fields whose sums are printed on stderr below a table. */
  readonly totals?: readonly string[];
  /** Runs if the group is called without a command. */
  readonly isDefault?: true;
  readonly handwritten?: true;
  readonly examples?: readonly string[];
}

export interface CommandSpec {
  /** `browsers.fs.watch.start` */
  readonly operationId: string;
  /** `["browsers", "fs", "watch", "start"]` */
  readonly words: readonly string[];
  readonly summary: string;
  readonly description: string;
  readonly method: string;
  /** With placeholders: `/browsers/{id}/fs/watch`. */
  readonly path: string;
  /** Needs no API key. */
  readonly open?: true;
  /** The command's first arguments, in order. */
  readonly params: readonly { readonly name: string; readonly description: string }[];
  readonly flags: readonly Flag[];
  readonly body: "none" | "json" | "bytes" | "multipart";
  readonly result: ResultKind;
  readonly responses: Readonly<Record<string, ResultKind>>;
  readonly sends?: string;
  readonly receives?: string;
  /** Of the response, or of one item of a list. */
  readonly fields: readonly string[];
  readonly deprecated?: true;
  readonly entry: CommandEntry;
}

export interface Group {
  readonly description: string;
  readonly alias?: readonly string[];
  readonly usage?: string;
  readonly examples: readonly string[];
}

/** The part of the table of commands that every call reads. */
export interface CommandIndex {
  readonly version: string;
  /** Ids of operations that this version of the service does not implement. */
  readonly notYet: readonly string[];
  readonly roots: readonly CommandSpec[];
  /** By their words: `browsers fs`. */
  readonly groups: Readonly<Record<string, Group>>;
  /** The first words of all other operations. */
  readonly tables: readonly string[];
}

export interface CommandTables {
  readonly index: CommandIndex;
  load(word: string): readonly CommandSpec[];
}

/** A table for people, indented JSON, one JSON value a line, or YAML. */
export type OutputFormat = "table" | "json" | "jsonl" | "yaml";

export interface Terminal {
  readonly stdout: NodeJS.WritableStream;
  readonly stderr: NodeJS.WritableStream;
  readonly stdin: NodeJS.ReadableStream;
  /** Writes synchronously, without opening the stream. */
  print(text: string): void;
  /** Prints a text that names commands, as the user types them here: `./shoal doctor` in a clone. */
  help(text: string): void;
  /** Whether stdin and stderr are a terminal, so that a person can answer a question. */
  readonly interactive: boolean;
  /** Whether stderr is a terminal. */
  readonly progress: boolean;
  /** Whether stdin is a terminal. */
  readonly keyboard: boolean;
  /** Whether stdout is a terminal: tables are cut to its width, and times are relative. */
  readonly screen: boolean;
  readonly colour: boolean;
  readonly errorColour: boolean;
  /** In columns; 80 if unknown. */
  readonly width: number;
}

export interface Run {
  readonly terminal: Terminal;
  readonly env: NodeJS.ProcessEnv;
  /** Aborted by Ctrl-C, SIGTERM and SIGHUP, and when the reader of stdout exits. */
  readonly signal: AbortSignal;
  /** The folder of the bundle and of the tables of commands. */
  readonly dist: URL;
  /** Sets the exit status. A signal takes precedence. */
  readonly exitWith: (status: number) => void;
}

export interface GlobalFlags {
  readonly baseUrl?: string;
  readonly project?: string;
  readonly context?: string;
  /** Seconds. */
  readonly requestTimeout?: number;
  /** Print results and errors only. */
  readonly quiet?: boolean;
  readonly debug?: boolean;
  readonly dryRun?: boolean;
}

export interface GivenValues {
  readonly args: readonly string[];
  readonly options: Readonly<Record<string, unknown>>;
  /** For each field: its key in `options`, and its flag as typed. */
  readonly flags: Readonly<Record<string, { readonly key: string; readonly name: string }>>;
}

export interface CommandRequest {
  readonly params: Readonly<Record<string, string>>;
  readonly query: Readonly<Record<string, unknown>>;
  readonly body: Readonly<Record<string, unknown>> | undefined;
}

export interface Answer {
  /** The JSON value, or the items of a page; `undefined` for an empty answer. */
  readonly value: unknown;
  readonly next?: Readonly<Record<string, unknown>>;
}

/** The argument or flag of each wire field: `--timeout-seconds`, `<path>`. */
export type FieldNames = WeakMap<Command, Readonly<Record<string, string>>>;

/** Creates the group on first use. */
export type GroupFor = (words: readonly string[]) => Command;

export interface Adding {
  readonly groupFor: GroupFor;
  readonly run: Run;
  readonly version: string;
  readonly names: FieldNames;
  readonly specs: WeakMap<Command, CommandSpec>;
  /** Ids of the operations with the same arguments: a look-up here would read a table for every command. */
  readonly likeOperation: WeakMap<Command, string>;
  readonly specOf: (operationId: string) => CommandSpec;
  readonly isNotYet: (operationId: string) => boolean;
}

export interface Program {
  readonly root: Command;
  /** Completes commands of plugins, so that their help and errors work like those of other commands. */
  finish(): void;
  /** Makes the help of `shoal` list every command. */
  listAll(): void;
  /** Returns the operation of a command, or the one whose arguments it takes. */
  specFor(command: Command): CommandSpec | undefined;
  operations(word: string): readonly CommandSpec[];
  /** Creates the commands below a first word. */
  fill(word: string): void;
  fillAll(): void;
  /** As typed: `shoal profiles get`. */
  commandName(): string;
  /** Returns the argument or flag of a wire field in the running command. */
  nameOf(field: string): string | undefined;
  /** As typed; accepts an operation's id or its snake_case name. */
  commandOf(name: string): string | undefined;
}
