import assert from "node:assert/strict";
import fc from "fast-check";
import { compileExpression, type Expression } from "../../../src/authentication/expression/expression.ts";
import { InvalidExpression } from "../../../src/authentication/expression/tokenizer.ts";
import type { Variable, Variables } from "../../../src/authentication/expression/value.ts";

const ANN: Variables = new Map<string, Variable>([
  ["email", "ann@site-a.example"],
  ["preferred_username", "ann"],
  ["name", "Ann Example"],
  ["preferredUsername", ["ann", "ann2"]],
  ["only", ["one"]],
  ["none", []],
  ["empty", ""],
  ["yes", "true"],
  ["level", "3"],
  ["details", ["kx", "b"]],
  ["tuples", ["a1,ALPHA,phys", "b2,BETA,bio", "c3,ALPHA,chem"]],
  ["groups", ["hpc", "lab2"]],
  ["urn:x:y", ["seven"]],
  ["address", new Map<string, Variable>([["street", "High St"], ["lines", ["1", "2"]]])],
]);

const text = (source: string, more: Record<string, Variable> = {}) =>
  compileExpression(source).text(new Map([...ANN, ...Object.entries(more)]));
const textsOf = (expression: Expression) => expression.list(ANN).map(({ raw }) => raw);
const list = (source: string) => textsOf(compileExpression(source));
const name = (source: string, more: Record<string, Variable> = {}) =>
  compileExpression(source).name(new Map([...ANN, ...Object.entries(more)]));

const LOOP = `
  // first part of the tuple whose second part is BETA
  for (t : tuples) {
    p = t.split(",");
    if (p[1] == "BETA") return p[0];
  }
  null`;
const ACCUMULATE =
  `res = []; for (t : tuples) { p = t.split(","); if (p[1] == 'ALPHA') { res += p[2]; } } res`;
const iterate = (variable: string) => `
  f = [];
  if (${variable} instanceof String) f.add(${variable});
  else { i = ${variable}.iterator(); while (i.hasNext()) { f.add(i.next()); } }
  f.size() == 0 ? null : (f.contains("ann") ? "ann" : f[0])`;

const TEXTS: [string, string | undefined][] = [
  // every form of credentials.md 6.1
  [`"user"`, "user"],
  [`'user'`, "user"],
  [`"UID="+email`, "UID=ann@site-a.example"],
  [`'UID='+email`, "UID=ann@site-a.example"],
  ["preferred_username", "ann"],
  ["preferredUsername", "ann"],
  ["preferredUsername[0]", "ann"],
  ["preferredUsername[1]", "ann2"],
  ["attr['email']", "ann@site-a.example"],
  ["attr['preferredUsername'][0]", "ann"],
  [`attr["urn:x:y"]`, "seven"],
  ["123", "123"],
  [`"UID="+email+(details[0].endsWith('x')?"":",OU="+name)`, "UID=ann@site-a.example"],
  [`"UID="+email+(details[1].endsWith('x')?"":",OU="+name)`, "UID=ann@site-a.example,OU=Ann Example"],
  [LOOP, "b2"],
  [LOOP.replaceAll("BETA", "GAMMA"), undefined],
  [iterate("preferredUsername"), "ann"],
  [iterate("preferred_username"), "ann"],
  [iterate("none"), undefined],
  // results
  ["null", undefined],
  ["none", undefined],
  ["empty", undefined],
  [`"  "`, undefined],
  ["true", "true"],
  ["return email;", "ann@site-a.example"],
  ["return email", "ann@site-a.example"],
  ["email;", "ann@site-a.example"],
  ["x = 5", "5"],
  ["if (yes) 'a'; else 'b';", "a"],
  ["if (level == 2) 'a' else if (level == 3) { 'b'; 'c' } else 'd'", "c"],
  ["if (level == 2) 'a'", undefined],
  ["for (g : groups) g", undefined],
  ["while (false) 'x'", undefined],
  ["while (true) return 'x'", "x"],
  ["'a'; ; if (false) ; 'b'", "b"],
  // operators
  ["1 + 2", "3"],
  ["1 + 2 + 'a' + 1 + 2", "3a12"],
  ["'a' + true", "atrue"],
  ["'a' + only", "aone"],
  ["only + 'a'", "onea"],
  ["level == 3 ? 'x' : 'y'", "x"],
  ["level == '3' && !(level != 3) ? 'x' : 'y'", "x"],
  ["yes ? 'x' : 'y'", "x"],
  ["yes == true || missing ? 'x' : 'y'", "x"],
  ["false && missing ? 'x' : 'y'", "y"],
  ["!!yes ? 'x' : 'y'", "x"],
  ["!!!yes ? 'x' : 'y'", "y"],
  ["false ? 'a' : true ? 'b' : 'c'", "b"],
  ["missing == null ? 'x' : missing", "x"],
  ["null != missing ? missing : 'y'", "y"],
  ["email != null ? email : ''", "ann@site-a.example"],
  ["attr['missing'] == null ? 'x' : 'y'", "x"],
  ["null == null ? 'x' : 'y'", "x"],
  ["groups instanceof List && address instanceof Map && !(email instanceof Map) ? 'x' : 'y'", "x"],
  ["groups == null ? 'x' : 'y'", "y"],
  // methods
  ["email.startsWith('ann') ? 'x' : 'y'", "x"],
  ["email.contains('@') ? 'x' : 'y'", "x"],
  ["name.equals('Ann Example') ? 'x' : 'y'", "x"],
  ["level.equals(3) ? 'x' : 'y'", "x"],
  ["name.equalsIgnoreCase('ANN EXAMPLE') ? 'x' : 'y'", "x"],
  ["email.split('@')[0]", "ann"],
  [String.raw`email.split("\\.").size()`, "2"],
  [String.raw`"a*b]c".split("\\*")[1].split("]")[0]`, "b"],
  ["'a,b,,'.split(',').size()", "2"],
  ["''.split(',').size()", "1"],
  ["' x '.trim()", "x"],
  ["name.toLowerCase() + name.toUpperCase()", "ann exampleANN EXAMPLE"],
  ["name.length()", "11"],
  ["name.substring(4)", "Example"],
  ["name.substring(0, 3)", "Ann"],
  ["name.replace('n', 'N')", "ANN Example"],
  ["name.replace('.', '-')", "Ann Example"],
  ["empty.isEmpty() && none.isEmpty() ? 'x' : 'y'", "x"],
  ["groups.get(1) + groups.size()", "lab22"],
  ["(groups contains 'hpc') ? ['hpc'] : ['users']", "hpc"],
  ["email contains '@' && !(groups contains 'h') ? {'a','b'} : {}", "a"],
  ["groups.contains('hpc') && !groups.contains('h') ? 'x' : 'y'", "x"],
  ["address.street", "High St"],
  ["address.get('street') + address.size() + address.containsKey('x')", "High St2false"],
  ["address['lines'][1]", "2"],
  ["address.missing", undefined],
  // texts and blanks
  [String.raw`"\"\\\'\n\tä\u00fC"`, `"\\'\n\tää`.replace("ää", "äü")],
  [`"it's" + ' "so" '`, `it's "so" `],
  ["/* a */ 'x' // b", "x"],
  ["\n\t 'x'\r\n", "x"],
];

for (const [source, expected] of TEXTS) {
  Deno.test(`text() of ${source.trim().replace(/\s+/g, " ").slice(0, 90)} is ${expected}`, () => {
    assert.equal(text(source), expected);
  });
}

const LISTS: [string, string[]][] = [
  [`["hpc", "users"]`, ["hpc", "users"]],
  [`"test123"`, ["test123"]],
  ["123", ["123"]],
  ["groups", ["hpc", "lab2"]],
  ["preferred_username", ["ann"]],
  ["[]", []],
  ["none", []],
  ["null", []],
  [ACCUMULATE, ["phys", "chem"]],
  ["['a'] + groups", ["a", "hpc", "lab2"]],
  ["groups + ['a']", ["hpc", "lab2", "a"]],
  ["['a'] + 'b'", ["a", "b"]],
  ["[] + preferred_username", ["ann"]],
  ["x = groups; x.add('more'); x", ["hpc", "lab2", "more"]],
  ["x = groups; x.add('more'); groups.size() + attr['groups'].size()", ["5"]],
  ["x = []; for (g : groups) { x += 'g_' + g } x", ["g_hpc", "g_lab2"]],
  ["x = [1]; for (y : x) x.add(y + 1); x", ["1", "2"]],
];

for (const [source, expected] of LISTS) {
  Deno.test(`list() of ${source.slice(0, 90)} is ${expected}`, () =>
    assert.deepEqual(list(source), expected));
}

Deno.test("an expression does not change the variables of later expressions", () => {
  const grow = compileExpression("groups.add('more'); groups");
  assert.deepEqual(textsOf(grow), ["hpc", "lab2", "more"]);
  assert.deepEqual(textsOf(grow), ["hpc", "lab2", "more"]);
  assert.deepEqual(list("groups"), ["hpc", "lab2"]);
});

const NAMES: [string, string, string, string][] = [
  [`"UID="+x`, "a+b@c.example", String.raw`UID=a\+b@c.example`, "the sample of 6.3"],
  [`"UID="+x`, "x,O=Admins", String.raw`UID=x\,O=Admins`, "an injected part"],
  [
    `"CN="+name+" "+x`,
    "x,O=Admins",
    String.raw`CN=Ann Example x\,O=Admins`,
    "behind a literal within a value",
  ],
  [`"CN="+x+",O=Site-A"`, "#x ", String.raw`CN=\#x\ ,O=Site-A`, "characters that are special at the ends"],
  [`"CN="+x+x`, "+", String.raw`CN=\+\+`, "twice"],
  [`x`, "CN=a,O=b", "CN=a,O=b", "a name as a whole"],
  [`x+",O=b"`, "CN=a", "CN=a,O=b", "the beginning of a name"],
  [`"CN=a,"+x`, "O=b", "CN=a,O=b", "the end of a name"],
  [String.raw`"CN=a\\,"+x`, "O=b", String.raw`CN=a\,O\=b`, "behind an escaped comma"],
  [`'CN="a,'+x+'"'`, "O=b", String.raw`CN="a,O\=b"`, "within quotes"],
  [`("UID="+x).toLowerCase()`, "X,O=Admins", String.raw`uid=x\,o=admins`, "changed after it was joined"],
  [`("UID="+x).trim()+x`, ",", String.raw`UID=\,\,`, "joined again after it was changed"],
  [`"UID=%,O=b".replace("%", x)`, "a,O=c", String.raw`UID=a\,O=c,O=b`, "put in with replace()"],
  [`"UID="+x.split("@")[0]`, "a,b@c", String.raw`UID=a\,b`, "split"],
  [`"UID="+x.substring(1)`, "aa,b", String.raw`UID=a\,b`, "cut"],
  [`y = "UID="; y += x; y`, "a,b", String.raw`UID=a\,b`, "put together step by step"],
  [`["UID="+x]`, "a,b", String.raw`UID=a\,b`, "in a list"],
  [`("UID="+x).contains(",O=") ? "CN=bad" : "CN=good"`, "a,O=b", "CN=bad", "tested unescaped"],
];

for (const [source, x, expected, what] of NAMES) {
  Deno.test(`name() escapes text from outside: ${what}`, () => {
    // RFC 4514 does not require that `=` in a value is escaped; both spellings mean the same.
    assert.equal(name(source, { x })?.replaceAll("\\=", "="), expected.replaceAll("\\=", "="));
  });
}

const FOLDED: readonly (readonly [source: string, x: string, reason: RegExp])[] = [
  ['"UID="+x.trim()', "ann ", /trim\(\) does not take from outside blanks/],
  ['"UID="+x.trim()', "\u3000ann", /blanks/],
  ['("UID="+x).trim()', "ann\uFEFF", /does not show/],
  ['"UID="+x.toUpperCase()', "\uFF21nn", /stands for others/],
  ['("UID="+x).toUpperCase()', "a\u200Bnn", /does not show/],
  ['"UID="+x.toLowerCase()', "\u212Aim", /disguised/],
  ['["UID="+x.toLowerCase()]', "ma\u017Fs", /stands for others/],
];
for (const [source, x, reason] of FOLDED) {
  Deno.test(`name() and text() of ${source} refuse to fold ${escape(x)}`, () => {
    assert.throws(() => name(source, { x }), reason);
    assert.throws(() => text(source, { x }), reason);
  });
}

Deno.test("text() does not escape", () => assert.equal(text(`"UID="+tuples[0]`), "UID=a1,ALPHA,phys"));

const UNREADABLE: [string, string][] = [
  ["email.indexOf('@')", "line 1, column 7: no method indexOf() with 1 arguments"],
  ["missing == null ? null : missing.replaceAll('@.*', '')", "no method replaceAll() with 2 arguments"],
  ["email.getClass()", "no method getClass() with 0 arguments"],
  ["email.constructor('return 1')", "no method constructor()"],
  ["groups.push(1)", "no method push()"],
  ["address.__proto__()", "no method __proto__()"],
  ["address.set('a', 1)", "no method set()"],
  ["email.trim(1)", "no method trim() with 1 arguments"],
  ["email.contains()", "no method contains() with 0 arguments"],
  ["", "line 1, column 1: expected an expression, found the end"],
  [";", "line 1, column 2: expected an expression, found the end"],
  ["// nothing", "line 1, column 11: expected an expression, found the end"],
  ["a b", "line 1, column 3: expected ;, found b"],
  ["'a' 'b'", "line 1, column 5: expected ;, found 'b'"],
  ["new java.util.ArrayList()", "line 1, column 5: expected ;, found java"],
  ["import java.util.List", "line 1, column 8: expected ;, found java"],
  ["a\n  + * b", 'line 2, column 5: unexpected "*"'],
  ["a +", "line 1, column 4: expected a value, found the end"],
  ["a ? b", "line 1, column 6: expected :, found the end"],
  ["[1, 2", "line 1, column 6: expected ], found the end"],
  ["[1,]", "line 1, column 4: expected a value, found ]"],
  ["(a", "line 1, column 3: expected ), found the end"],
  ["a[0", "line 1, column 4: expected ], found the end"],
  ["a.", "line 1, column 3: expected the name of a method or member, found the end"],
  ["a.'b'", "line 1, column 3: expected the name of a method or member, found 'b'"],
  ["a.if", "line 1, column 3: expected the name of a method or member, found if"],
  ["'abc", `line 1, column 1: a text that does not end`],
  ["'a\nb'", `line 1, column 1: a text that does not end`],
  [String.raw`'\x41'`, `line 1, column 1: a text that does not end`],
  [String.raw`'\u12'`, `line 1, column 1: a text that does not end`],
  ["/* x", "line 1, column 1: a comment that does not end"],
  ["007", "line 1, column 1: expected an integer"],
  ["1234567890123456", "line 1, column 1: expected an integer"],
  ["1.5", "line 1, column 3: expected the name of a method or member, found 5"],
  ["-1", 'line 1, column 1: unexpected "-"'],
  ["a < b", 'line 1, column 3: unexpected "<"'],
  ["a = = b", "line 1, column 5: expected a value, found ="],
  ["a == b == c", "line 1, column 8: expected ;, found =="],
  ["a = b = c", "line 1, column 7: expected ;, found ="],
  ["null = 1", "line 1, column 6: expected ;, found ="],
  ["attr = 1", "line 1, column 1: attr cannot be assigned, found attr"],
  ["a instanceof Number", "line 1, column 14: expected String, List or Map"],
  ["if a) b", "line 1, column 4: expected (, found a"],
  ["if (a) b c", "line 1, column 10: expected ;, found c"],
  ["if (a) { b", "line 1, column 11: expected ;, found the end"],
  ["else a", "line 1, column 1: expected a value, found else"],
  ["for (a, b) c", "line 1, column 7: expected :, found ,"],
  ["for (String a : b) c", "line 1, column 13: expected :, found a"],
  ["return", "line 1, column 7: expected a value, found the end"],
  ["a }", "line 1, column 3: expected ;, found }"],
  ["{ a", "line 1, column 4: expected }, found the end"],
  ["groups contains", "line 1, column 16: expected a value, found the end"],
  ["äpfel", 'line 1, column 1: unexpected "ä"'],
  ["a &  b", 'line 1, column 3: unexpected "&"'],
  ["\u{1f600}", 'line 1, column 1: unexpected "\u{1f600}"'],
  ["(".repeat(40) + "1" + ")".repeat(40), "line 1, column 32: nested deeper than 32 levels"],
  ["if(true)".repeat(40) + "1", "nested deeper than 32 levels"],
  ["x = ".padEnd(70_000, "'"), "line 1, column 1: longer than 65536 characters"],
];

for (const [source, message] of UNREADABLE) {
  Deno.test(`compileExpression() refuses ${JSON.stringify(source.slice(0, 40))}`, () => {
    assert.throws(() => compileExpression(source), (error) => {
      assert.ok(error instanceof InvalidExpression);
      assert.ok(error.message.includes(message), error.message);
      return true;
    });
  });
}

const FAILING: [string, string][] = [
  ["missing", "line 1, column 1: no value is named missing"],
  ["'a' +\n missing", "line 2, column 2: no value is named missing"],
  ["'a' + null", "line 1, column 7: expected a text to join, found null"],
  ["null + 'a'", "line 1, column 1: expected a text to join, found null"],
  ["'a' + groups", "line 1, column 7: expected a text to join, found a list of 2"],
  ["groups + 'a'", "line 1, column 1: expected a text to join, found a list of 2"],
  ["'a' + none", "found a list of 0"],
  ["'a' + address", "found a map"],
  ["missing == 'a'", "no value is named missing"],
  ["groups == 'hpc'", "line 1, column 8: expected a text to compare, found a list"],
  ["'a' ? 1 : 2", "line 1, column 1: expected true or false, found a text"],
  ["groups ? 1 : 2", "expected true or false, found a list"],
  ["!null", "expected true or false, found null"],
  ["groups[2]", "line 1, column 7: no item 2 in a list of 2"],
  ["groups.get(9)", "no item 9 in a list of 2"],
  ["email[0]", "a text has nothing at a number"],
  ["groups['0']", "a list has nothing at a text"],
  ["address[0]", "a map has nothing at a number"],
  ["null[0]", "null has nothing at a number"],
  ["email.name", "a text has no members"],
  ["groups.length", "a list has no members"],
  ["email.constructor", "a text has no members"],
  ["groups.trim()", "a list has no method trim() with 0 arguments"],
  ["email.add(1)", "a text has no method add() with 1 arguments"],
  ["address.contains('a')", "a map has no method contains() with 1 arguments"],
  ["123.length()", "a number has no methods"],
  ["null.size()", "null has no methods"],
  ["email.contains(groups)", "contains() expects a text, found a list"],
  ["email.substring('1')", "substring() expects a number, found a text"],
  ["name.substring(12)", "no part from 12 to 11"],
  ["name.substring(3, 2)", "no part from 3 to 2"],
  ["x = '.'; name.split(x)", "split() expects a separator"],
  ["name.replace('', 'x')", "replace() expects a text to look for"],
  ["i = none.iterator(); i.next()", "next() at the end of the list"],
  ["for (x : email) x", "expected a list, found a text"],
  ["address", "expected a text as result, found a map"],
  ["[groups]", "expected a text as result, found a list"],
  ["groups.iterator()", "expected a text as result, found an iterator"],
  ["x += 1", "no value is named x"],
  ["while (true) 1", "takes more than 10000 steps"],
  ["while (true) {}", "takes more than 10000 steps"],
  ["x = [1]; while (true) x = x + x", "takes more than 10000 steps"],
  ["x = 'aaaaaaaa'; while (true) x = x + x", "makes a text longer than 65536 characters"],
  ["x = 'a'.replace('a', 'aaaaaaaaaaaaaaaa'); while (true) x = x.replace('a', x)", "makes a text longer"],
  [
    "x = ','; for (i : [1, 2, 3]) x = x.replace(',', ',,,,,,,,,,,,,,,,'); x = x.replace(',', ',,,'); x.split(',')",
    "split() makes more than 10000 parts",
  ],
];

for (const [source, message] of FAILING) {
  Deno.test(`text() refuses ${source.slice(0, 60)}`, () => {
    const expression = compileExpression(source);
    assert.throws(() => expression.text(ANN), (error) => {
      assert.ok(error instanceof InvalidExpression);
      assert.ok(error.message.includes(message), error.message);
      return true;
    });
  });
}

for (const inherited of ["__proto__", "constructor", "toString", "hasOwnProperty", "attr['__proto__'].x"]) {
  Deno.test(`text() does not read inherited members: ${inherited}`, () =>
    assert.throws(() => text(inherited), InvalidExpression));
}

Deno.test("error messages contain no values of variables", () => {
  const variables = new Map<string, Variable>([["secret", "s3cr3t"], ["list", ["s3cr3t", "s3cr3t"]]]);
  for (
    const source of ["'a' + list", "secret ? 1 : 2", "list == secret", "list[secret]", "secret.substring(99)"]
  ) {
    assert.throws(
      () => compileExpression(source).text(variables),
      (error) => !String(error).includes("s3cr3t"),
    );
  }
});

const FRAGMENTS = fc.constantFrom(
  ..."a b email groups address null true ' \" 'x' 1 0 + += == != = ! ? : ; , . ( ) [ ] { } && || // /* \\ \n"
    .split(" "),
  ..."if else for while return instanceof String .add( .split(',') .iterator() .next() while(true) (a+a)"
    .split(" "),
  " ",
);

Deno.test("compileExpression() and its expressions always end, and throw only InvalidExpression", () => {
  const source = fc.oneof(fc.string(), fc.array(FRAGMENTS, { maxLength: 60 }).map((parts) => parts.join("")));
  fc.assert(
    fc.property(source, (source) => {
      try {
        const expression = compileExpression(source);
        for (const run of [expression.text, expression.name, expression.list]) run(ANN);
      } catch (error) {
        assert.ok(error instanceof InvalidExpression, `${source}: ${error}`);
      }
    }),
    { numRuns: 2000 },
  );
});

Deno.test("compileExpression() handles the longest sources quickly", () => {
  const filled = (part: string) => part.repeat(65_000 / part.length);
  for (
    const source of [
      "1" + filled("+1"),
      "a" + filled("[0]"),
      filled("("),
      filled("/**/"),
      filled("a;"),
    ]
  ) {
    assert.throws(() => compileExpression(source).text(ANN), InvalidExpression);
  }
});

Deno.test("name() never lets the value of a variable add a part", async () => {
  const { parseName } = await import("../../../src/model/distinguished_name.ts");
  const expression = compileExpression(`"CN=" + a + "-" + b + ",O=Site-A,C=DE"`);
  const outside = fc.string({
    unit: fc.oneof(fc.constantFrom(...'"\\,;+=#<> \n\u0000äx'.split("")), fc.string({ maxLength: 1 })),
  });
  fc.assert(fc.property(outside, outside, (a, b) => {
    const name = expression.name(new Map([["a", a], ["b", b]])) ?? "";
    const parts = parseName(name);
    assert.equal(parts.length, 3);
    assert.deepEqual(parts[0]?.map(({ value }) => value), [{ kind: "text", text: `${a}-${b}` }]);
  }));
});

for (
  const pattern of [
    "",
    ".",
    "[.@]",
    "(",
    "a|b",
    "a+",
    String.raw`\\d`,
    String.raw`\\.x`,
    String.raw`\\`,
    "^",
    "$",
    "{",
    "?",
    "*",
  ]
) {
  Deno.test(`compileExpression() refuses to split by ${pattern}, which Java does not read as plain text`, () => {
    assert.throws(() => compileExpression(`sub.split("${pattern}")[0]`), {
      message: "line 1, column 5: split() expects a separator: a text, or one escaped sign such as " +
        String.raw`"\\.", no other regular expression`,
    });
  });
}
