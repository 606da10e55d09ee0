import { Menu, type MenuProps } from "@mantine/core";
import { cloneElement, useEffect, useState } from "react";
import type { OpenedMenuProps } from "./menu-button.tsx";

/** A menu that opens as soon as it is drawn. */
export function OpenedMenu({ button, children, ...props }: OpenedMenuProps & MenuProps) {
  const [isOpen, setOpen] = useState(false);
  useEffect(() => {
    // In a later frame: the menu returns the focus to the element that had it before the menu opened.
    const frame = requestAnimationFrame(() => {
      setOpen(true);
    });
    return () => {
      cancelAnimationFrame(frame);
    };
  }, []);
  return (
    <Menu {...props} opened={isOpen} onChange={setOpen}>
      <Menu.Target>{cloneElement(button, { autoFocus: true })}</Menu.Target>
      {children}
    </Menu>
  );
}
