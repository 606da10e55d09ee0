import { ActionIcon, Menu } from "@mantine/core";
import { EllipsisVertical, type LucideIcon } from "lucide-react";
import { useState } from "react";
import { ConfirmDialog } from "../forms/confirm-dialog.tsx";

export interface RowAction {
  readonly label: string;
  readonly icon: LucideIcon;
  readonly run: () => void;
  readonly isDangerous?: boolean;
  /** Asks before it runs. */
  readonly confirm?: { readonly title: string; readonly text: string; readonly action: string };
}

/** The actions of a row, behind one button. */
export function RowMenu({ label, actions }: { readonly label: string; readonly actions: readonly RowAction[] }) {
  const [asked, setAsked] = useState<RowAction>();
  const close = () => {
    setAsked(undefined);
  };
  return (
    <>
      <Menu position="bottom-end">
        <Menu.Target>
          <ActionIcon variant="subtle" color="gray" aria-label={label}>
            <EllipsisVertical size={16} aria-hidden />
          </ActionIcon>
        </Menu.Target>
        <Menu.Dropdown>
          {actions.map((action) => (
            <Menu.Item
              key={action.label}
              {...(action.isDangerous === true && { color: "red" })}
              leftSection={<action.icon size={16} aria-hidden />}
              onClick={() => {
                if (action.confirm === undefined) action.run();
                else setAsked(action);
              }}
            >
              {action.label}
            </Menu.Item>
          ))}
        </Menu.Dropdown>
      </Menu>
      <ConfirmDialog
        asked={asked?.confirm}
        isDangerous={asked?.isDangerous ?? false}
        close={close}
        confirm={() => {
          close();
          asked?.run();
        }}
      />
    </>
  );
}
