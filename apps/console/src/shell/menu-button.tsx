import { type ComponentType, type LazyExoticComponent, type ReactElement, Suspense, useState } from "react";
import { lazyPart } from "../parts/lazy-part.ts";

export interface OpenedMenuProps {
  readonly button: ReactElement<{ readonly autoFocus?: boolean }>;
}

interface LazyMenu {
  readonly load: () => Promise<unknown>;
  readonly Opened: LazyExoticComponent<ComponentType<OpenedMenuProps>>;
}

/** Menus and their positioning are large, so they are loaded when a person is about to use one. */
export function lazyMenu(load: () => Promise<{ readonly default: ComponentType<OpenedMenuProps> }>): LazyMenu {
  return { load: () => load().catch(() => undefined), Opened: lazyPart(load, "default") };
}

/** A button whose menu is loaded on demand. The menu draws the button after the first click. */
export function MenuButton({ menu: { load, Opened }, button }: OpenedMenuProps & { readonly menu: LazyMenu }) {
  const [isUsed, setUsed] = useState(false);
  if (isUsed)
    return (
      <Suspense fallback={button}>
        <Opened button={button} />
      </Suspense>
    );
  return (
    <span
      style={{ display: "contents" }}
      onPointerEnter={() => void load()}
      onFocus={() => void load()}
      onClick={() => {
        setUsed(true);
      }}
    >
      {button}
    </span>
  );
}
