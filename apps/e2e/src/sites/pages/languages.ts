import { html, redirect } from "../hosting/exchange.ts";
import { type Markup, markup } from "../hosting/markup.ts";
import { Site } from "../hosting/site.ts";

/** The words of a login page. */
interface Words {
  readonly lang: string;
  readonly brand: string;
  readonly title: string;
  readonly name: string;
  readonly password: string;
  readonly remember: string;
  readonly send: string;
  readonly forgot: string;
  readonly register: string;
  readonly wrong: string;
  readonly hello: string;
  readonly signOut: string;
}

export const languages: readonly Words[] = [
  {
    lang: "de",
    brand: "Stadtwerke Musterstadt",
    title: "Anmelden",
    name: "E-Mail-Adresse oder Kundennummer",
    password: "Passwort",
    remember: "Angemeldet bleiben",
    send: "Anmelden",
    forgot: "Passwort vergessen?",
    register: "Jetzt registrieren",
    wrong: "Die Anmeldedaten sind nicht korrekt. Bitte überprüfen Sie Ihre Eingaben.",
    hello: "Guten Tag, Ada Lovelace",
    signOut: "Abmelden",
  },
  {
    lang: "fr",
    brand: "Librairie du Port",
    title: "Connexion",
    name: "Identifiant",
    password: "Mot de passe",
    remember: "Se souvenir de moi",
    send: "Se connecter",
    forgot: "Mot de passe oublié ?",
    register: "Créer un compte",
    wrong: "Identifiant ou mot de passe incorrect.",
    hello: "Bonjour Ada Lovelace",
    signOut: "Se déconnecter",
  },
  {
    lang: "es",
    brand: "Banco del Sur",
    title: "Acceso clientes",
    name: "Correo electrónico",
    password: "Contraseña",
    remember: "Recordarme",
    send: "Iniciar sesión",
    forgot: "¿Olvidaste tu contraseña?",
    register: "Regístrate",
    wrong: "El correo o la contraseña no son válidos.",
    hello: "Hola, Ada Lovelace",
    signOut: "Cerrar sesión",
  },
  {
    lang: "ja",
    brand: "あおぞら書店",
    title: "ログイン",
    name: "会員ID",
    password: "パスワード",
    remember: "ログイン状態を保持する",
    send: "ログイン",
    forgot: "パスワードをお忘れの方",
    register: "新規会員登録",
    wrong: "会員IDまたはパスワードが正しくありません。",
    hello: "Ada Lovelace 様のマイページ",
    signOut: "ログアウト",
  },
  {
    lang: "pt",
    brand: "Loja da Praia",
    title: "Entrar",
    name: "E-mail ou CPF",
    password: "Senha",
    remember: "Manter conectado",
    send: "Entrar",
    forgot: "Esqueci minha senha",
    register: "Cadastre-se",
    wrong: "E-mail ou senha inválidos.",
    hello: "Olá, Ada Lovelace",
    signOut: "Sair",
  },
  {
    lang: "pl",
    brand: "Biblioteka Miejska",
    title: "Logowanie",
    name: "Nazwa użytkownika",
    password: "Hasło",
    remember: "Zapamiętaj mnie",
    send: "Zaloguj się",
    forgot: "Nie pamiętasz hasła?",
    register: "Załóż konto",
    wrong: "Nieprawidłowa nazwa użytkownika lub hasło.",
    hello: "Witaj, Ada Lovelace",
    signOut: "Wyloguj się",
  },
  {
    lang: "it",
    brand: "Ferrovie della Costa",
    title: "Accedi",
    name: "Indirizzo email",
    password: "Password",
    remember: "Ricordami",
    send: "Accedi",
    forgot: "Hai dimenticato la password?",
    register: "Registrati",
    wrong: "Email o password errati.",
    hello: "Ciao Ada Lovelace",
    signOut: "Esci",
  },
  {
    lang: "nl",
    brand: "Fietsenwinkel",
    title: "Inloggen",
    name: "Gebruikersnaam",
    password: "Wachtwoord",
    remember: "Ingelogd blijven",
    send: "Inloggen",
    forgot: "Wachtwoord vergeten?",
    register: "Account aanmaken",
    wrong: "Gebruikersnaam of wachtwoord is onjuist.",
    hello: "Welkom, Ada Lovelace",
    signOut: "Uitloggen",
  },
  {
    lang: "zh",
    brand: "江南图书馆",
    title: "用户登录",
    name: "用户名 / 邮箱",
    password: "密码",
    remember: "记住我",
    send: "登录",
    forgot: "忘记密码？",
    register: "立即注册",
    wrong: "用户名或密码错误。",
    hello: "欢迎您，Ada Lovelace",
    signOut: "退出登录",
  },
  {
    lang: "ko",
    brand: "한강은행",
    title: "로그인",
    name: "아이디",
    password: "비밀번호",
    remember: "로그인 상태 유지",
    send: "로그인",
    forgot: "비밀번호 찾기",
    register: "회원가입",
    wrong: "아이디 또는 비밀번호가 올바르지 않습니다.",
    hello: "Ada Lovelace님, 안녕하세요",
    signOut: "로그아웃",
  },
  {
    lang: "ru",
    brand: "Северная почта",
    title: "Вход",
    name: "Логин или телефон",
    password: "Пароль",
    remember: "Запомнить меня",
    send: "Войти",
    forgot: "Забыли пароль?",
    register: "Зарегистрироваться",
    wrong: "Неверный логин или пароль.",
    hello: "Здравствуйте, Ada Lovelace",
    signOut: "Выйти",
  },
  {
    lang: "tr",
    brand: "Deniz Hava Yolları",
    title: "Giriş Yap",
    name: "E-posta adresi",
    password: "Şifre",
    remember: "Beni hatırla",
    send: "Giriş Yap",
    forgot: "Şifremi unuttum",
    register: "Üye ol",
    wrong: "E-posta adresi veya şifre hatalı.",
    hello: "Merhaba Ada Lovelace",
    signOut: "Çıkış Yap",
  },
];

/** Name and password of the account of each site. */
export const languageAccount = (lang: string) => ({ identifier: "ada@example.com", password: `wort-${lang}-Mot-1815` });

/** One site for each language. Names of fields say nothing, so that only the words of the page help. */
export function languageSites(): Site[] {
  return languages.map((words, index) => {
    const fields = styles[index % styles.length] ?? labelled;
    return new Site({
      host: `lang-${words.lang}.test`,
      accounts: [{ ...languageAccount(words.lang), name: "Ada Lovelace" }],
      signOut: "/x",
      routes: (site) => {
        const login = (problem?: string) =>
          html(
            page(
              words,
              markup`<h1>${words.title}</h1>${problem === undefined ? undefined : markup`<div class="m">${problem}</div>`}<form method="post" action="/a">${fields(words)}<p><label><input type="checkbox" name="f3"> ${words.remember}</label></p><p><a href="/v">${words.forgot}</a></p><button>${words.send}</button></form><p><a href="/r">${words.register}</a></p>`,
            ),
          );
        return {
          "GET /": (request) =>
            site.accountOf(request) === undefined
              ? login()
              : html(page(words, markup`<h1>${words.hello}</h1><a href="/x">${words.signOut}</a>`)),
          "POST /a": (request) => {
            const account = site.check(request.field("f1"), request.field("f2"));
            return typeof account === "string" ? login(words.wrong) : redirect("/", [site.signIn(account)]);
          },
        };
      },
    });
  });
}

function page({ lang, brand, title }: Words, body: Markup): Markup {
  return markup`<html lang="${lang}"><head><meta charset="utf-8"><title>${title} | ${brand}</title></head><body><header>${brand}</header><main>${body}</main></body></html>`;
}

function labelled({ name, password }: Words): Markup {
  return markup`<p><label for="f1">${name}</label><input id="f1" name="f1"></p><p><label for="f2">${password}</label><input id="f2" name="f2" type="password"></p>`;
}

function withPlaceholders({ name, password }: Words): Markup {
  return markup`<input name="f1" placeholder="${name}"><input name="f2" type="password" placeholder="${password}">`;
}

/** Words in a column of a table, joined to the fields by nothing but their place. */
function inTable({ name, password }: Words): Markup {
  return markup`<table><tr><td>${name}</td><td><input name="f1"></td></tr><tr><td>${password}</td><td><input name="f2" type="password"></td></tr></table>`;
}

function withAria({ name, password }: Words): Markup {
  return markup`<div><input name="f1" aria-label="${name}"></div><div><input name="f2" type="password" aria-label="${password}"></div>`;
}

const styles = [labelled, withPlaceholders, inTable, withAria];
