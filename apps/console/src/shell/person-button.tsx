import { ActionIcon } from "@mantine/core";
import { UserRound } from "lucide-react";
import { lazyMenu, MenuButton } from "./menu-button.tsx";

const menu = lazyMenu(() => import("./person-menu.tsx"));

/** Opens the menu with the person's name, the appearance, and sign-out. */
export function PersonButton() {
  return (
    <MenuButton
      menu={menu}
      button={
        <ActionIcon variant="default" size="lg" radius="xl" aria-label="Account and appearance" aria-haspopup="menu">
          <UserRound size={18} aria-hidden />
        </ActionIcon>
      }
    />
  );
}
