import { ServiceError } from "@shoal/router";
import type { CarriedSecrets } from "./carried-secrets.ts";
import { redacted, SecretMatcher } from "./secret-matcher.ts";

/** Shorter texts occur by chance: replacing them would destroy other contents. */
export const leastSecretCharacters = 6;
/** The latest ones, which covers more one-time codes than are valid at a time. */
const maxSecrets = 200;
const maxDepth = 100;
const leastNumber = 10_000;
/** An event with what a field contained is recorded this soon, in milliseconds. */
const lateEventMs = 10_000;

/** `telemetry`: the caller knows the value, so only stored events omit it. */
export type SecretAudience = "everywhere" | "telemetry";

/** Values that were typed in pages of the session. They are replaced in everything that leaves the instance as text. */
export class TypedSecrets {
  readonly #everywhere = new SecretSet();
  readonly #telemetry = new SecretSet();
  /** Apart, so that a page with many fields cannot evict the others. */
  readonly #observed = new SecretSet();
  readonly #observations = new Map<string, number>();
  #hidesPages = false;

  /** Whether a page may show a value that the caller does not know. Pictures cannot be searched for it. */
  get hidesPages(): boolean {
    return this.#hidesPages;
  }

  add(secret: string, hiddenIn: SecretAudience = "everywhere"): void {
    if (hiddenIn === "everywhere") this.#hidesPages = true;
    if (!isLong(secret)) return;
    this.#telemetry.add(secret);
    if (hiddenIn === "everywhere") this.#everywhere.add(secret);
  }

  /**
   * Adds what a client or a person typed in a field for secrets: only the telemetry omits it.
   * @param before - the field's earlier value; it is forgotten if typing continued it.
   */
  observe(secret: string, before: string): void {
    if (secret === before || !isLong(secret)) return;
    this.#observed.add(secret);
    this.#observations.set(secret, (this.#observations.get(secret) ?? 0) + 1);
    const [oldest] = this.#observations.keys();
    if (this.#observations.size > maxSecrets && oldest !== undefined) this.#observations.delete(oldest);
    if (!secret.startsWith(before)) return;
    setTimeout(() => {
      this.#forget(before);
    }, lateEventMs).unref();
  }

  /** For an instance whose pages start with the state of these pages. */
  carried(): CarriedSecrets {
    return {
      hides_pages: this.#hidesPages,
      everywhere: this.#everywhere.values,
      telemetry: this.#telemetry.values,
      observed: this.#observed.values,
    };
  }

  take({ everywhere, hides_pages: hidesPages, observed, telemetry }: CarriedSecrets): void {
    for (const secret of everywhere.filter(isLong)) this.#everywhere.add(secret);
    for (const secret of telemetry.filter(isLong)) this.#telemetry.add(secret);
    for (const secret of observed) this.observe(secret, "");
    if (hidesPages) this.#hidesPages = true;
  }

  /** Another field may have the same value. */
  #forget(part: string): void {
    const count = (this.#observations.get(part) ?? 0) - 1;
    if (count > 0) this.#observations.set(part, count);
    else if (this.#observations.delete(part)) this.#observed.delete(part);
  }

  /** For answers and logs. */
  readonly inText = (text: string): string => this.#everywhere.replaceIn(text);

  /** Returns an event of the telemetry, or another JSON value, with every text of it replaced. */
  readonly inEvent = <T>(event: T): T => {
    const shown = this.#telemetry.isEmpty ? event : copyOf(event, this.#telemetry);
    return (this.#observed.isEmpty ? shown : copyOf(shown, this.#observed)) as T;
  };

  /**
   * The same for an answer of an operation, also for a stream of events. A number in it that is a secret becomes a text:
   * a form returns the value of a field for numbers as a number.
   */
  inAnswer<T>(answer: T): T {
    return this.#everywhere.isEmpty ? answer : (copyOf(answer, this.#everywhere, { numbers: true }) as T);
  }

  inError(error: unknown): unknown {
    if (this.#everywhere.isEmpty || !ServiceError.isInstance(error)) return error;
    const { code, details, field, fields, hint, limit, problem, retryAfterSeconds, status } = error;
    const shown = this.inAnswer({ details, field, fields, hint, limit, problem });
    return new ServiceError(status, code, shown.problem, {
      field: shown.field,
      limit: shown.limit,
      hint: shown.hint,
      ...(shown.details && { details: shown.details }),
      ...(shown.fields && { fields: shown.fields }),
      ...(retryAfterSeconds !== undefined && { retryAfterSeconds }),
    });
  }
}

function isLong(secret: string): boolean {
  return secret.trim().length >= leastSecretCharacters;
}

interface CopyOptions {
  readonly numbers?: boolean;
  readonly depth?: number;
}

function copyOf(value: unknown, secrets: SecretSet, { depth = 0, numbers = false }: CopyOptions = {}): unknown {
  if (typeof value === "string") return secrets.replaceIn(value);
  if (typeof value === "number") return numbers && secrets.hasNumber(value) ? redacted : value;
  if (typeof value !== "object" || value === null || depth > maxDepth) return value;
  const inside = { numbers, depth: depth + 1 };
  if (Array.isArray(value)) return value.map((item: unknown) => copyOf(item, secrets, inside));
  const prototype: unknown = Object.getPrototypeOf(value);
  if (prototype === Object.prototype || prototype === null)
    return Object.fromEntries(
      Object.entries(value).map(([name, item]: [string, unknown]) => [
        secrets.replaceIn(name),
        copyOf(item, secrets, inside),
      ]),
    );
  return isEvents(value) ? copiesOf(value, secrets, numbers) : value;
}

async function* copiesOf(events: AsyncIterable<unknown>, secrets: SecretSet, numbers: boolean): AsyncGenerator {
  for await (const event of events) yield copyOf(event, secrets, { numbers });
}

/** A secret of digits, as groups or with zeros before it, as a number. Smaller ones occur by chance. */
function numberOf(secret: string): number | undefined {
  const digits = secret.trim().replaceAll(/(?<=\d)[ -](?=\d)/g, "");
  const value = /^\d+$/.test(digits) ? Number(digits) : Number.NaN;
  return value >= leastNumber ? value : undefined;
}

/** Streams of bytes have the same symbol. */
function isEvents(value: object): value is AsyncIterable<unknown> {
  return Symbol.asyncIterator in value && !("pipe" in value);
}

class SecretSet {
  readonly #matchers = new Map<string, SecretMatcher>();
  #ordered: readonly SecretMatcher[] = [];
  #beginning: RegExp | undefined;
  #numbers: ReadonlySet<number | undefined> = new Set();

  get isEmpty(): boolean {
    return this.#matchers.size === 0;
  }

  get values(): string[] {
    return [...this.#matchers.keys()];
  }

  add(secret: string): void {
    const matcher = this.#matchers.get(secret) ?? new SecretMatcher(secret);
    this.#matchers.delete(secret);
    this.#matchers.set(secret, matcher);
    const [oldest] = this.#matchers.keys();
    if (this.#matchers.size > maxSecrets && oldest !== undefined) this.#matchers.delete(oldest);
    this.#beginning = undefined;
  }

  delete(secret: string): void {
    if (this.#matchers.delete(secret)) this.#beginning = undefined;
  }

  #order(): RegExp {
    // One secret may contain another.
    const entries = [...this.#matchers].toSorted(([one], [other]) => other.length - one.length);
    this.#ordered = entries.map(([, known]) => known);
    this.#numbers = new Set(entries.map(([secret]) => numberOf(secret)));
    return new RegExp(this.#ordered.map(({ beginning }) => beginning).join("|"), "iu");
  }

  hasNumber(value: number): boolean {
    this.#beginning ??= this.#order();
    return this.#numbers.has(value);
  }

  replaceIn(text: string): string {
    this.#beginning ??= this.#order();
    if (this.isEmpty || !this.#beginning.test(text)) return text;
    let shown = text;
    for (const matcher of this.#ordered) shown = matcher.replaceIn(shown);
    return shown;
  }
}
