import { type ComponentType, lazy, type LazyExoticComponent } from "react";
import { MissingPart } from "./missing-part.tsx";

/** Loads a module with a component. When its file cannot be loaded, the component loads the page again. */
export async function orMissing<Module, Name extends keyof Module>(
  load: () => Promise<Module>,
  name: Name,
): Promise<Pick<Module, Name>> {
  try {
    return await load();
  } catch {
    // It ignores the properties of the component that it replaces.
    return { [name]: MissingPart } as Pick<Module, Name>;
  }
}

/** A component that is loaded at its first use. The rest of the page stays if that fails. */
export function lazyPart<Props, Name extends string>(
  load: () => Promise<Readonly<Record<Name, ComponentType<Props>>>>,
  name: Name,
): LazyExoticComponent<ComponentType<Props>> {
  return lazy(async () => ({ default: (await orMissing(load, name))[name] }));
}
