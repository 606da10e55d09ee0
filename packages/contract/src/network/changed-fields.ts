/** A change of settings: `null` removes a field, and an absent one stays. */
export type FieldChange<Settings extends object> = { readonly [Field in keyof Settings]?: Settings[Field] | null };

const isPresent = ([, value]: readonly [string, unknown]): boolean => value !== undefined && value !== null;

/** Returns the fields that a change sets. */
export function setFields<Settings extends object>(change: FieldChange<Settings> | undefined): Settings {
  return Object.fromEntries(Object.entries(change ?? {}).filter(isPresent)) as Settings;
}

/** Applies a change. */
export function changedFields<Settings extends object>(
  present: Settings | undefined,
  change: FieldChange<Settings> | undefined,
): Settings {
  const named = Object.entries(change ?? {}).filter(([, value]) => value !== undefined);
  return setFields<Settings>({ ...present, ...(Object.fromEntries(named) as FieldChange<Settings>) });
}
