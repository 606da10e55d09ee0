/** Replaces some members of an object; other methods keep their `this`. */
export function withMembers<Of extends object>(of: Of, members: Partial<Of>): Of {
  return new Proxy(of, {
    get(target, name) {
      const own: unknown = name in members ? members[name as keyof Of] : Reflect.get(target, name, target);
      // oxlint-disable-next-line typescript/no-unsafe-return -- any method of the target
      return typeof own === "function" ? own.bind(target) : own;
    },
  });
}
