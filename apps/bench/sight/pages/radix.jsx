import * as R from "radix-ui";
import { done, show } from "./show.jsx";

const box = { border: "1px solid #888", padding: 8, background: "#fff" };

show({
  select: () => (
    <R.Select.Root onValueChange={done}>
      <R.Select.Trigger aria-label="Colour">
        <R.Select.Value placeholder="Choose" />
      </R.Select.Trigger>
      <R.Select.Portal>
        <R.Select.Content style={box}>
          <R.Select.Viewport>
            {["Red", "Green"].map((c) => (
              <R.Select.Item key={c} value={c}>
                <R.Select.ItemText>{c}</R.Select.ItemText>
              </R.Select.Item>
            ))}
          </R.Select.Viewport>
        </R.Select.Content>
      </R.Select.Portal>
    </R.Select.Root>
  ),
  "nested menu": () => (
    <R.DropdownMenu.Root>
      <R.DropdownMenu.Trigger>File</R.DropdownMenu.Trigger>
      <R.DropdownMenu.Portal>
        <R.DropdownMenu.Content style={box}>
          <R.DropdownMenu.Item>New</R.DropdownMenu.Item>
          <R.DropdownMenu.Sub>
            <R.DropdownMenu.SubTrigger>Export</R.DropdownMenu.SubTrigger>
            <R.DropdownMenu.Portal>
              <R.DropdownMenu.SubContent style={box}>
                {["PDF", "CSV"].map((t) => (
                  <R.DropdownMenu.Item key={t} onSelect={() => done(t)}>
                    {t}
                  </R.DropdownMenu.Item>
                ))}
              </R.DropdownMenu.SubContent>
            </R.DropdownMenu.Portal>
          </R.DropdownMenu.Sub>
        </R.DropdownMenu.Content>
      </R.DropdownMenu.Portal>
    </R.DropdownMenu.Root>
  ),
  "context menu": () => (
    <R.ContextMenu.Root>
      <R.ContextMenu.Trigger asChild>
        <div style={{ ...box, width: 200 }} tabIndex={0}>
          Photo of a boat
        </div>
      </R.ContextMenu.Trigger>
      <R.ContextMenu.Portal>
        <R.ContextMenu.Content style={box}>
          <R.ContextMenu.Item onSelect={() => done("copied")}>Copy picture</R.ContextMenu.Item>
        </R.ContextMenu.Content>
      </R.ContextMenu.Portal>
    </R.ContextMenu.Root>
  ),
  "alert dialog": () => (
    <R.AlertDialog.Root>
      <R.AlertDialog.Trigger>Delete account</R.AlertDialog.Trigger>
      <R.AlertDialog.Portal>
        <R.AlertDialog.Overlay style={{ position: "fixed", inset: 0, background: "#0006" }} />
        <R.AlertDialog.Content style={{ ...box, position: "fixed", top: 80, left: 80 }}>
          <R.AlertDialog.Title>Sure?</R.AlertDialog.Title>
          <R.AlertDialog.Description>This cannot be undone.</R.AlertDialog.Description>
          <R.AlertDialog.Cancel>Keep</R.AlertDialog.Cancel>
          <R.AlertDialog.Action onClick={() => done("deleted")}>Yes, delete</R.AlertDialog.Action>
        </R.AlertDialog.Content>
      </R.AlertDialog.Portal>
    </R.AlertDialog.Root>
  ),
  "one-time code": () => (
    <R.unstable_OneTimePasswordField.Root onValueChange={done} style={{ display: "flex" }}>
      {[0, 1, 2, 3].map((i) => (
        <R.unstable_OneTimePasswordField.Input key={i} style={{ width: 24 }} />
      ))}
      <R.unstable_OneTimePasswordField.HiddenInput />
    </R.unstable_OneTimePasswordField.Root>
  ),
  slider: () => (
    <R.Slider.Root
      defaultValue={[30]}
      onValueChange={([v]) => done(v)}
      style={{ position: "relative", display: "flex", alignItems: "center", width: 200, height: 20 }}
    >
      <R.Slider.Track style={{ background: "#ccc", flexGrow: 1, height: 3 }}>
        <R.Slider.Range />
      </R.Slider.Track>
      <R.Slider.Thumb aria-label="Volume" style={{ display: "block", width: 16, height: 16, background: "#444" }} />
    </R.Slider.Root>
  ),
  "hover card": () => (
    <R.HoverCard.Root openDelay={50}>
      <R.HoverCard.Trigger href="#" style={{ padding: 4 }}>
        Ada Lund
      </R.HoverCard.Trigger>
      <R.HoverCard.Portal>
        <R.HoverCard.Content style={box}>
          <button onClick={() => done("followed")}>Follow</button>
        </R.HoverCard.Content>
      </R.HoverCard.Portal>
    </R.HoverCard.Root>
  ),
  "navigation menu": () => (
    <R.NavigationMenu.Root>
      <R.NavigationMenu.List style={{ listStyle: "none" }}>
        <R.NavigationMenu.Item>
          <R.NavigationMenu.Trigger>Products</R.NavigationMenu.Trigger>
          <R.NavigationMenu.Content>
            <R.NavigationMenu.Link href="#tents" onClick={() => done("tents")}>
              Tents
            </R.NavigationMenu.Link>
          </R.NavigationMenu.Content>
        </R.NavigationMenu.Item>
      </R.NavigationMenu.List>
      <R.NavigationMenu.Viewport style={box} />
    </R.NavigationMenu.Root>
  ),
});
