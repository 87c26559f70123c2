import {existsSync} from 'node:fs'
import {dirname, join, relative, resolve} from 'node:path'
import {defineConfig} from 'vitepress'

const root = resolve(import.meta.dirname, '../../..')
// scripts/site/build runs this in bin/site.build, whose depth is the same.
const source = 'https://github.com/signalbox/signalbox/blob/main/'

// Double braces are text here, and no expression of the generator.
function braces(md) {
  for (const rule of ['text', 'code_inline', 'code_block', 'fence']) {
    const render = md.renderer.rules[rule]
    md.renderer.rules[rule] = (...args) => render(...args).replaceAll('{{', '&#123;&#123;')
  }
}

// Pages link to files of the repository, too: those links lead to the repository.
function leave(md) {
  md.core.ruler.push('leave', state => {
    for (const block of state.tokens) for (const token of block.children || []) {
      const href = token.type === 'link_open' && token.attrGet('href')
      if (!href || /^([a-z]+:|#)/.test(href)) continue
      const [path] = href.split('#')
      const file = relative(root, join(dirname(join(root, state.env.relativePath)), decodeURI(path)))
      if (file.endsWith('.md') ? file.startsWith('deploy/') || file.startsWith('pkg/') : existsSync(join(root, file))) token.attrSet('href', source + file)
    }
  })
}

const page = (text, link) => ({text, link: '/' + link})

export default defineConfig({
  title: 'Signalbox',
  description: 'From issue to merged pull request, with software agents',
  base: process.env.BASE || '/',
  srcDir: '../..',
  srcExclude: ['**/testdata/**', 'deploy/**', 'pkg/**', 'services/**', 'scripts/**', 'bin/**', 'proto/**', 'CLAUDE.md'],
  rewrites: {'README.md': 'index.md'},
  outDir: '../../bin/site',
  cacheDir: '../../bin/site.cache',
  markdown: {config: md => { leave(md); braces(md) }},
  // Pages lie outside of the directory of the packages.
  vite: {resolve: {alias: {vue: join(import.meta.dirname, '../node_modules/vue')}}},
  themeConfig: {
    search: {provider: 'local'},
    outline: [2, 3],
    sidebar: [
      {text: 'Signalbox', items: [page('What it does', ''), page('Changes', 'CHANGELOG')]},
      {text: 'Guides', items: [page('All', 'docs/guide/README'), page('First day with GitHub', 'docs/guide/github'), page('npm', 'docs/guide/npm'),
        page('Python', 'docs/guide/python'), page('A monorepo', 'docs/guide/monorepo'), page('My tests fail', 'docs/guide/tests-fail'), page('It waits', 'docs/guide/waits'),
        page('For a team', 'docs/guide/team'), page('Writing an agent', 'docs/guide/agent'), page('Writing a lifecycle', 'docs/guide/lifecycle'),
        page('Reading the evidence', 'docs/guide/evidence')]},
      {text: 'Operating', items: [page('Day by day', 'docs/operations'), page('Containers', 'docs/containers'), page('Access', 'docs/access'), page('Sandbox', 'docs/sandbox'),
        page('The forge', 'docs/forge'), page('GitHub', 'docs/github'), page('Recovery', 'docs/recovery'), page('Metrics', 'docs/metrics'), page('Flags', 'docs/flags'),
        page('Console', 'docs/console'), page('Notifications', 'docs/notify'), page('Security', 'SECURITY')]},
      {text: 'Reference', collapsed: true, items: [page('Configuration of a repository', 'docs/configuration'), page('Brains', 'docs/brains'), page('Prompts', 'docs/prompts'),
        page('Lifecycles', 'docs/lifecycles'), page('issue', 'docs/workflows/issue'), page('pipeline', 'docs/workflows/pipeline'), page('story', 'docs/workflows/story'),
        page('task', 'docs/workflows/task'), page('Agent protocol', 'docs/agent-protocol'), page('Events of the forge', 'docs/events'), page('History', 'docs/history'),
        page('Attestation', 'docs/attestation'), page('Learnings', 'docs/learnings'), page('Eval', 'docs/eval'), page('Bench', 'docs/bench')]},
      {text: 'Development', collapsed: true, items: [page('Architecture', 'ARCHITECTURE'), page('Contributing', 'CONTRIBUTING'), page('Decisions', 'docs/adr/README')]},
    ],
  },
})
