import { Button } from "@mantine/core";
import type { Invocation } from "@shoal/schemas";
import { RotateCw, Square } from "lucide-react";
import { useNavigate } from "@tanstack/react-router";
import { useState } from "react";
import { useCanOperate, useSignedIn } from "../../api/shoal.ts";
import { useAction } from "../../parts/action.ts";
import { ConfirmDialog } from "../../parts/forms/confirm-dialog.tsx";
import { isRunning } from "./is-running.ts";

/** Nothing for a viewer. */
export function InvocationActions({ invocation }: { readonly invocation: Invocation }) {
  const canOperate = useCanOperate();
  if (!canOperate) return null;
  return isRunning(invocation) ? <CancelButton id={invocation.id} /> : <AgainButton invocation={invocation} />;
}

function CancelButton({ id }: { readonly id: string }) {
  const { shoal } = useSignedIn();
  const [isAsked, setAsked] = useState(false);
  const cancel = useAction({
    act: () => shoal.invocations.update(id, { status: "failed" }),
    told: () => "The invocation was canceled.",
    changes: [["invocation"], ["invocations"]],
  });
  const close = () => {
    setAsked(false);
  };
  return (
    <>
      <Button
        size="xs"
        color="red"
        variant="light"
        leftSection={<Square size={14} aria-hidden />}
        loading={cancel.isPending}
        onClick={() => {
          setAsked(true);
        }}
      >
        Cancel
      </Button>
      <ConfirmDialog
        asked={
          isAsked
            ? {
                title: "Cancel the invocation?",
                text: "It fails, and its browsers end.",
                action: "Cancel the invocation",
              }
            : undefined
        }
        isDangerous
        close={close}
        confirm={() => {
          close();
          cancel.mutate();
        }}
      />
    </>
  );
}

function AgainButton({ invocation: { app_name, version, action_name, payload } }: { readonly invocation: Invocation }) {
  const { shoal } = useSignedIn();
  const navigate = useNavigate();
  const again = useAction({
    act: () =>
      shoal.invocations.create({
        app_name,
        version,
        action_name,
        async: true,
        ...(payload !== undefined && { payload }),
      }),
    done: ({ id }) => void navigate({ to: "/invocations/$id", params: { id } }),
    changes: [["invocations"]],
  });
  return (
    <Button
      size="xs"
      variant="default"
      leftSection={<RotateCw size={14} aria-hidden />}
      loading={again.isPending}
      onClick={() => {
        again.mutate();
      }}
    >
      Run it again
    </Button>
  );
}
