/** Style sheet of all pages, for light and dark, phones, zoom and print. */
export const STYLE = `
:root {
  color-scheme: light dark;
  --ink: #1c2430; --paper: #fbfbf9; --card: #fff; --line: #d5d9df; --edge: #77808d; --quiet: #535d6b;
  --link: #0b57a4; --up: #176534; --up-paper: #e2f4e7; --down: #9c1c1c; --down-paper: #fde8e6; --code: #f0f1f3;
}
@media (prefers-color-scheme: dark) {
  :root {
    --ink: #e6e9ee; --paper: #14181e; --card: #1c222a; --line: #39424e; --edge: #8b95a3; --quiet: #a9b3c0;
    --link: #8cc2ff; --up: #8fdca8; --up-paper: #173423; --down: #ffb0a8; --down-paper: #45201d; --code: #11151a;
  }
}
* { box-sizing: border-box }
html { font: 100%/1.5 system-ui, sans-serif; color: var(--ink); background: var(--paper) }
body { max-width: 60rem; margin: 0 auto; padding: 1rem; overflow-wrap: anywhere }
header, footer { display: flex; flex-wrap: wrap; gap: .25rem 1.5rem; align-items: baseline; justify-content: space-between }
header { border-bottom: 1px solid var(--line); padding-bottom: .75rem; margin-bottom: 1.25rem }
footer { border-top: 1px solid var(--line); margin-top: 2rem; padding-top: .75rem; color: var(--quiet); font-size: .875rem }
header p, footer p { margin: 0 }
h1 { font-size: 1.375rem; margin: 0 0 1rem }
.about { color: var(--quiet); margin: -.75rem 0 1rem }
.pages { display: flex; flex-wrap: wrap; gap: .25rem 1rem; list-style: none; padding: 0; margin: 0 }
.pages [aria-current] { color: var(--ink); font-weight: 600; text-decoration: none; border-bottom: 3px solid var(--link) }
h2 { font-size: 1.125rem; margin: 0 }
h3 { font-size: 1rem; margin: 1rem 0 .25rem }
a { color: var(--link) }
:focus-visible { outline: 3px solid var(--link); outline-offset: 2px }
section { background: var(--card); border: 1px solid var(--line); border-radius: .5rem; padding: 1rem; margin: 0 0 1rem }
section > header { border: 0; padding: 0; margin: 0 0 .5rem; justify-content: flex-start }
.diagnostic { border-left: .25rem solid var(--down); color: var(--down); background: var(--down-paper); padding: .5rem .75rem; margin: 0 0 1rem }
.state { border-radius: 1rem; padding: .125rem .75rem; font-weight: 600 }
.up { color: var(--up); background: var(--up-paper) }
.down { color: var(--down); background: var(--down-paper) }
.quiet { color: var(--quiet) }
dl { display: grid; grid-template-columns: minmax(8rem, max-content) 1fr; gap: .25rem 1rem; margin: .5rem 0 }
dt { color: var(--quiet) }
dd { margin: 0 }
pre { background: var(--code); border: 1px solid var(--line); border-radius: .25rem; padding: .5rem .75rem; margin: .25rem 0 .75rem; white-space: pre-wrap }
code { font: .875rem/1.5 ui-monospace, monospace }
.wide { overflow-x: auto }
table { border-collapse: collapse; width: 100% }
caption { text-align: left; color: var(--quiet); padding-bottom: .5rem }
th, td { text-align: left; vertical-align: top; padding: .25rem .75rem .25rem 0; border-bottom: 1px solid var(--line) }
td:first-child { min-width: 8rem }
bdi { overflow-wrap: anywhere }
.time { white-space: nowrap }
.hidden { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); white-space: nowrap }
.trail { display: flex; flex-wrap: wrap; gap: .25rem .5rem; list-style: none; padding: 0; margin: 0 0 1rem }
.trail li + li::before { content: "/"; color: var(--quiet); margin-right: .5rem }
.look { font-size: .875rem; margin-left: .5rem; display: inline-block }
.parts { display: flex; gap: 1rem }
form { margin: 0 0 1rem; display: flex; flex-wrap: wrap; gap: .5rem; align-items: center }
input, button, select, textarea { font: inherit; color: inherit; background: var(--card); border: 1px solid var(--edge); border-radius: .25rem; padding: .375rem .625rem; min-height: 2.25rem; max-width: 100% }
button { cursor: pointer; background: var(--link); color: var(--paper); border-color: var(--link); font-weight: 600 }
a.button { display: inline-block; border: 1px solid var(--link); border-radius: .25rem; padding: .375rem .625rem; font-weight: 600 }
button.plain { background: none; color: var(--link) }
button.danger { background: none; color: var(--down); border-color: var(--down) }
details.danger { border-top: 1px solid var(--line); margin-top: 1.5rem; padding-top: .5rem }
header form { display: inline }
.fields { display: block }
.fields label { display: block; font-weight: 600 }
.fields label.check { font-weight: 400 }
.fields input[type=checkbox] { width: auto; min-height: 0 }
.fields .long { width: 40rem }
.fields input, .fields select, .fields textarea { width: 24rem }
.total { position: sticky; top: 0; background: var(--paper); padding: .5rem 0; margin: 0 }
.uploads { list-style: none; padding: 0; max-height: 60vh; overflow-y: auto; position: relative }
.uploads li { display: flex; flex-wrap: wrap; gap: .25rem .75rem; align-items: center; padding: .5rem 0; border-bottom: 1px solid var(--line) }
.note { border-left: 4px solid var(--link); padding-left: .75rem }
.entries { list-style: none; padding: 0; margin: .5rem 0 }
.entries li { padding: .5rem 0; border-top: 1px solid var(--line) }
.entries p { margin: 0; font-size: .875rem }
.beside { display: flex; flex-wrap: wrap; gap: 1rem; justify-content: space-between; align-items: flex-start }
.qr { width: 11rem; height: 11rem; border-radius: .25rem }
summary { cursor: pointer; font-weight: 600; padding: .25rem 0 }
.hidden:empty { display: none }
[hidden] { display: none !important }
img.preview { max-width: 100%; height: auto }
pre.preview { max-height: 70vh; overflow: auto }
.number { text-align: right; font-variant-numeric: tabular-nums; white-space: nowrap }
@media (max-width: 36rem) { .clock { display: none } .look { margin-left: 0 } .listing th, .listing td { padding-right: .5rem } dl { grid-template-columns: 1fr; gap: 0 } dd { margin-bottom: .5rem } }
@media (prefers-reduced-motion: reduce) { * { animation: none !important; transition: none !important; scroll-behavior: auto !important } }
@media print { section { break-inside: avoid } }
`;
