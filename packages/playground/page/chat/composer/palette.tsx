// The colours themselves are in chat.css: a style attribute is what the page's policy forbids.
const colors = [
  ["red", "#d7263d"],
  ["orange", "#f46036"],
  ["yellow", "#f2c14e"],
  ["green", "#2e933c"],
  ["blue", "#2e5eaa"],
  ["violet", "#7d4fb0"],
] as const;

interface PaletteProps {
  readonly question: string;
  onPick(color: { name: string; hex: string }): void;
}

export function Palette({ question, onPick }: PaletteProps) {
  return (
    <>
      <p>{question}</p>
      <div class="palette">
        {colors.map(([name, hex]) => (
          <button key={name} type="button" class="swatch" onClick={() => onPick({ name, hex })}>
            <span class={`swatch-color swatch-${name}`} aria-hidden="true" />
            {name}
          </button>
        ))}
      </div>
    </>
  );
}
