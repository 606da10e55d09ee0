/**
 * @typedef {Record<string, any>} Json
 * @typedef {object} Shape - what a schema says, with references, `allOf` and the ways to write `null` resolved
 * @property {boolean} any - takes every value
 * @property {boolean} nullable
 * @property {Set<string>} types
 * @property {unknown[] | undefined} enum
 * @property {Json[] | undefined} variants - of a union of structures
 * @property {boolean} choice - its variants only say which of its fields are required
 * @property {Record<string, Json> | undefined} properties
 * @property {Set<string>} required
 * @property {Json | undefined} items
 * @property {Json | undefined} names - schema of the keys of a map
 * @property {Json} limits - keywords and their values
 */

export const lowerLimits = ["minimum", "minLength", "minItems", "minProperties"];
export const upperLimits = ["maximum", "maxLength", "maxItems", "maxProperties"];
const limitKeywords = [...lowerLimits, ...upperLimits, "pattern", "format", "default", "multipleOf", "uniqueItems"];

/** Resolves a reference, and references to references. @param {Json} document @param {Json | undefined} node @returns {Json} */
export function resolve(document, node) {
  let at = node;
  for (let hops = 0; at?.$ref !== undefined && hops < 20; hops++) {
    const steps = at.$ref.replace(/^#\//, "").split("/");
    at = steps
      .map((/** @type {string} */ step) => decodeURIComponent(step.replaceAll("~1", "/").replaceAll("~0", "~")))
      .reduce((/** @type {any} */ inner, /** @type {string} */ step) => inner?.[step], document);
  }
  return at ?? {};
}

/** @param {Json} document @param {Json} node @returns {Shape} */
export function shapeOf(document, node) {
  const schema = joined(document, node);
  const shape = emptyShape();
  shape.nullable = schema.nullable === true;
  if (Object.keys(schema).length === 0) return { ...shape, any: true };
  let variants = schema.oneOf ?? schema.anyOf;
  if (variants !== undefined && schema.properties !== undefined && variants.every(isChoice)) {
    shape.choice = true;
    variants = undefined;
  }
  if (variants !== undefined) return shapeOfUnion(document, variants, shape);
  fill(shape, schema);
  return shape;
}

/** @returns {Shape} */
function emptyShape() {
  const none = { enum: undefined, variants: undefined, properties: undefined, items: undefined, names: undefined };
  return { any: false, nullable: false, choice: false, types: new Set(), required: new Set(), limits: {}, ...none };
}

/** Joins keywords next to a reference, and the members of `allOf`. @param {Json} document @param {Json} node @returns {Json} */
function joined(document, node) {
  const beside = Object.fromEntries(Object.entries(node).filter(([key]) => key !== "$ref"));
  const { allOf = [], ...own } = { ...resolve(document, node), ...beside };
  /** @type {Json[]} */
  const parts = [...allOf.map((/** @type {Json} */ part) => joined(document, part)), own];
  return parts.reduce((all, part) => {
    const both = { ...all, ...part };
    if (all.properties !== undefined || part.properties !== undefined)
      both.properties = { ...all.properties, ...part.properties };
    if (all.required !== undefined || part.required !== undefined)
      both.required = [...(all.required ?? []), ...(part.required ?? [])];
    return both;
  });
}

/** @param {Json} variant */
function isChoice(variant) {
  return Object.keys(variant).every((key) => key === "required");
}

/** @param {Json} document @param {Json[]} variants @param {Shape} shape @returns {Shape} */
function shapeOfUnion(document, variants, shape) {
  const resolved = variants.map((variant) => joined(document, variant));
  const isNull = (/** @type {Json} */ variant) => variant.type === "null" || variant.const === null;
  const nullable = shape.nullable || resolved.some(isNull);
  const real = variants.filter((_variant, at) => !isNull(resolved[at] ?? {}));
  if (real.length === 1) {
    const one = shapeOf(document, real[0] ?? {});
    return { ...one, nullable: one.nullable || nullable };
  }
  const flat = real.flatMap((variant) => {
    const inner = joined(document, variant);
    return inner.properties === undefined ? (inner.oneOf ?? inner.anyOf ?? [variant]) : [variant];
  });
  const values = flat
    .map((variant) => joined(document, variant))
    .map((variant) => variant.enum ?? ("const" in variant ? [variant.const] : undefined));
  if (values.some((list) => list === undefined)) return { ...shape, nullable, variants: flat };
  const list = values.flat().filter((value) => value !== null);
  return { ...shape, nullable, enum: list, types: new Set([typeof list[0]]) };
}

/** @param {Shape} shape @param {Json} schema */
function fill(shape, schema) {
  for (const type of [schema.type ?? []].flat()) {
    if (type === "null") shape.nullable = true;
    else shape.types.add(type);
  }
  const values = schema.enum ?? ("const" in schema ? [schema.const] : undefined);
  if (values !== undefined) {
    shape.enum = values.filter((/** @type {unknown} */ value) => value !== null);
    if (values.includes(null)) shape.nullable = true;
  }
  if (schema.properties !== undefined) {
    shape.properties = schema.properties;
    shape.types.add("object");
  }
  shape.required = new Set(schema.required);
  shape.items = schema.items;
  shape.names = schema.propertyNames;
  for (const key of limitKeywords) if (key in schema) shape.limits[key] = schema[key];
  if (schema.exclusiveMinimum === 0 && !("minimum" in schema)) shape.limits.minimum = 1;
}
