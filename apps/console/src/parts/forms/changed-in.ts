/** The fields of an update that a person changed. Others may have changed the resource while its form was open. */
export function changedIn<Fields extends object>(before: Fields, after: Fields): Partial<Fields> {
  const changed = Object.entries(after).filter(
    ([name, value]) => JSON.stringify(value) !== JSON.stringify(Reflect.get(before, name)),
  );
  return Object.fromEntries(changed) as Partial<Fields>;
}
