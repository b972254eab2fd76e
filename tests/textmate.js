// Colours lines with the engine of VS Code: for editors.py. Input: [[language, line], …]; output: for each
// line the scopes of its words.
const fs = require('fs');
const path = require('path');
const textmate = require('vscode-textmate');
const oniguruma = require('vscode-oniguruma');
if (process.argv[2] === '--check') process.exit(0);

const wasm = path.join(path.dirname(require.resolve('vscode-oniguruma')), 'onig.wasm');
const registry = new textmate.Registry({
  onigLib: oniguruma.loadWASM(fs.readFileSync(wasm).buffer).then(() => ({
    createOnigScanner: patterns => new oniguruma.OnigScanner(patterns),
    createOnigString: text => new oniguruma.OnigString(text),
  })),
  loadGrammar: async scope => {
    const file = path.join(process.argv[2], scope.replace('source.', '') + '.tmLanguage.json');
    return textmate.parseRawGrammar(fs.readFileSync(file, 'utf8'), file);
  },
});

async function main() {
  const result = [];
  for (const [language, line] of JSON.parse(fs.readFileSync(0, 'utf8'))) {
    const grammar = await registry.loadGrammar('source.' + language);
    // The second scope: what is inside of a string is part of it.
    const scopes = grammar.tokenizeLine(line, textmate.INITIAL).tokens.map(token => token.scopes[1]);
    result.push(scopes.filter((scope, i) => scope && !(i > 0 && /string/.test(scope) && scope === scopes[i - 1])));
  }
  console.log(JSON.stringify(result));
}
main();
