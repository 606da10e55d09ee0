/** One schema as JSON: keywords and their values. */
export type JsonSchema = Record<string, unknown>;
