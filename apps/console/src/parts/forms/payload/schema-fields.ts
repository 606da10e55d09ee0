/** A property of a payload that one control can edit. */
export interface PayloadField {
  readonly name: string;
  readonly label: string;
  readonly description: string | undefined;
  readonly isRequired: boolean;
  readonly kind: "text" | "number" | "integer" | "boolean" | "choice";
  /** Of a choice. */
  readonly options: readonly string[];
}

/** Larger forms are written as JSON. */
const maxFields = 20;
const maxOptions = 100;
const kinds: ReadonlyMap<unknown, PayloadField["kind"]> = new Map([
  ["string", "text"],
  ["number", "number"],
  ["integer", "integer"],
  ["boolean", "boolean"],
]);

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null && !Array.isArray(value);
const textOf = (value: unknown) => (typeof value === "string" && value !== "" ? value : undefined);

/** @returns `undefined` when the schema is not an object of simple properties. */
export function fieldsOf(schema: unknown): readonly PayloadField[] | undefined {
  if (!isObject(schema) || schema.type !== "object" || !isObject(schema.properties)) return undefined;
  const required: readonly unknown[] = Array.isArray(schema.required) ? schema.required : [];
  const properties = Object.entries(schema.properties);
  if (properties.length === 0 || properties.length > maxFields) return undefined;
  const fields = properties.map(([name, property]) => fieldOf(name, property, required.includes(name)));
  return fields.every((field) => field !== undefined) ? fields : undefined;
}

function fieldOf(name: string, property: unknown, isRequired: boolean): PayloadField | undefined {
  if (!isObject(property)) return undefined;
  const options: readonly unknown[] = Array.isArray(property.enum) ? property.enum : [];
  const isChoice = options.length > 0 && options.every((option) => typeof option === "string");
  const kind = isChoice ? "choice" : options.length === 0 ? kinds.get(property.type) : undefined;
  if (kind === undefined || options.length > maxOptions) return undefined;
  const usual = ["string", "number", "boolean"].includes(typeof property.default)
    ? `Default: ${String(property.default)}`
    : undefined;
  return {
    name,
    label: textOf(property.title) ?? name,
    description: [textOf(property.description), usual].filter((text) => text !== undefined).join(". ") || undefined,
    isRequired,
    kind,
    options: isChoice ? options.map(String) : [],
  };
}

/** The payload as an object: empty for an empty text, `undefined` for other JSON and for texts that are not JSON. */
export function valuesOf(payload: string): Readonly<Record<string, unknown>> | undefined {
  if (payload.trim() === "") return {};
  try {
    const value: unknown = JSON.parse(payload);
    return isObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

/** Whether fields show the payload without changing a value that they do not show. */
export function fits(payload: string, fields: readonly PayloadField[]): boolean {
  const values = valuesOf(payload);
  // Long numbers are not exact in JavaScript.
  if (values === undefined || /\d{16}/.test(payload)) return false;
  return fields.every(({ kind, name, options }) => {
    const value = values[name];
    if (value === undefined) return true;
    if (kind === "boolean") return typeof value === "boolean";
    if (kind === "choice") return options.some((option) => option === value);
    return typeof value === "string" || (kind !== "text" && typeof value === "number");
  });
}

const written = { number: /^-?\d{1,15}(?:\.\d{1,15})?$/, integer: /^-?\d{1,15}$/ };

/** The payload with another value of a field. An empty text removes it. A text that is not a number stays, and is refused. */
export function withValue(payload: string, { kind, name }: PayloadField, text: string): string {
  const { [name]: _before, ...others } = valuesOf(payload) ?? {};
  const isNumber = (kind === "number" || kind === "integer") && written[kind].test(text);
  const value = isNumber ? Number(text) : kind === "boolean" ? text === "true" : text;
  const values = text === "" ? others : { ...others, [name]: value };
  return Object.keys(values).length === 0 ? "" : JSON.stringify(values, undefined, 2);
}
